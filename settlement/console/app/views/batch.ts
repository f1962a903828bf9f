import type { BatchDetail } from "../api/answers.ts";
import { ask } from "../api/ask.ts";
import { h } from "../page/dom.ts";
import { count, gasPerCall, plural, usd } from "../page/format.ts";
import { badge, code, facts, onChain, page, table, tool, when, whole } from "../page/parts.ts";
import { view } from "../view.ts";

const REASONS: Readonly<Record<string, string>> = {
  daily_cap: "the payer's own daily cap is used up",
  prepaid: "the prepaid balance is too small",
  consent_required: "the payer demands a budget",
  budget_forged: "the payer has not signed this budget",
  budget_exceeded: "the budget is used up",
  budget_expired: "the budget has run out",
  budget_tools: "the budget is for other tools",
  blacklisted: "USDC has blacklisted the wallet",
  allowance: "the spending cap is too small",
  balance: "not enough USDC",
};

export const batch = view<BatchDetail>({
  title: "Batch",
  load: ({ id }) => ask(`/v1/batches/${id}`),
  isDone: ({ state }) => state === "final" || state === "abandoned",
  draw(data) {
    const { outcome } = data;
    return page(
      "Batch",
      h("p", { class: "subject" }, whole(data.batchId)),
      h(
        "section",
        { class: "panel" },
        facts([
          ["State", badge(data.state)],
          ["Created", when(data.createdAt)],
          ["Final", data.finalAt === null ? "–" : when(data.finalAt)],
          ["Operator", onChain("address", data.operator)],
          ["Rows", count(data.rows)],
          ["Charges", count(data.charges)],
          ["Total", usd(data.totalUsd)],
          ["Charged", outcome ? usd(outcome.chargedUsd) : "–"],
          ["Gas", data.gasUsed === null ? "–" : count(data.gasUsed)],
          ["Gas per call", gasPerCall(data.gasUsed, data.charges)],
          ["To the treasury", outcome ? usd(outcome.treasuryShareUsd) : "–"],
        ]),
      ),
      transactions(data),
      outcome === null
        ? h("p", { class: "empty panel" }, "What became of its rows is known once it is in a block.")
        : results(outcome),
    );
  },
});

function transactions({ txHashes, txHash, nonce, blockNumber }: BatchDetail): HTMLElement {
  return table({
    caption: "Transactions",
    rows: txHashes,
    keyOf: (hash) => hash,
    empty: "Nothing was signed yet.",
    columns: [
      { name: "Hash", cell: (hash) => onChain("tx", hash, code) },
      { name: "Nonce", numeric: true, cell: () => nonce ?? "–" },
      { name: "Block", numeric: true, cell: (hash) => (hash === txHash ? count(blockNumber ?? "") : "–") },
      { name: "", cell: (hash) => (hash === txHash ? badge("in the chain", "good") : badge("sent", "calm")) },
    ],
  });
}

function results({ paid, failed, refused }: NonNullable<BatchDetail["outcome"]>): HTMLElement[] {
  return [
    table({
      caption: `Paid to ${plural(paid.length, "tool")}`,
      rows: paid,
      keyOf: ({ toolId }) => toolId,
      empty: "No tool was paid by this batch.",
      columns: [
        { name: "Tool", cell: ({ toolId }) => tool(toolId) },
        { name: "Payee", wide: true, cell: ({ payee }) => onChain("address", payee) },
        { name: "Charged", numeric: true, cell: ({ amountUsd }) => usd(amountUsd) },
        { name: "To the developer", numeric: true, cell: ({ developerShareUsd }) => usd(developerShareUsd) },
      ],
    }),
    table({
      caption: "Rows that failed",
      rows: failed,
      keyOf: ({ chargedTo }) => chargedTo,
      empty: "Every row was charged.",
      columns: [
        { name: "Account", cell: ({ chargedTo }) => onChain("address", chargedTo) },
        { name: "Amount", numeric: true, cell: ({ amountUsd }) => usd(amountUsd) },
        { name: "Why", cell: ({ reason }) => REASONS[reason] ?? reason },
      ],
    }),
    table({
      caption: "Lines that were refused",
      rows: refused,
      keyOf: ({ chargedTo, toolId }) => chargedTo + toolId,
      empty: "Every tool had its stake.",
      columns: [
        { name: "Tool", cell: ({ toolId }) => tool(toolId) },
        { name: "Account", cell: ({ chargedTo }) => onChain("address", chargedTo) },
        { name: "Amount", numeric: true, cell: ({ amountUsd }) => usd(amountUsd) },
        { name: "Why", wide: true, cell: () => "too little stake, or not listed" },
      ],
    }),
  ];
}
