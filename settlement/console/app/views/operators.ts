import type { OperatorRow } from "../api/answers.ts";
import { ask } from "../api/ask.ts";
import { h } from "../page/dom.ts";
import { count, decimals, size, time, usd } from "../page/format.ts";
import { badge, code, facts, meter, onChain, page, since, table } from "../page/parts.ts";
import { view } from "../view.ts";

export const operators = view<{ operators: OperatorRow[] }>({
  title: "Operators",
  everyMs: 5_000,
  load: () => ask("/v1/operators"),
  draw: ({ operators: rows }) =>
    page(
      "Operators",
      rows.length === 0 &&
        h(
          "p",
          { class: "empty panel" },
          "No operator key is configured, so nothing is settled. SETTLEMENT_KEYSTORES names one.",
        ),
      rows.map((operator) =>
        h("section", { class: "panel", "data-key": operator.operator }, about(operator), onTheWay(operator)),
      ),
    ),
});

function about({ operator, balanceEth, limitUsd, leftUsd, nonce, nextNonce, lease }: OperatorRow): HTMLElement[] {
  const used = size(limitUsd) - size(leftUsd);
  return [
    h("h2", { class: "address" }, onChain("address", operator)),
    facts([
      ["Gas", `${decimals(balanceEth, 6)} ETH`],
      ["May settle in 24 hours", usd(limitUsd)],
      ["Left of it", [usd(leftUsd), meter([{ part: used, class: "pending" }], size(limitUsd))]],
      ["Next nonce", nextNonce === nonce ? count(nonce) : `${count(nextNonce)}, the chain is at ${count(nonce)}`],
      [
        "Lease",
        lease === null ? "–" : [h("code", { class: "name" }, lease.holder ?? ""), ` until ${time(lease.until)}`],
      ],
    ]),
  ];
}

function onTheWay({ openSubmissions }: OperatorRow): HTMLElement {
  return table({
    caption: "On the way",
    rows: openSubmissions,
    keyOf: ({ id }) => id,
    empty: "Everything is final.",
    columns: [
      { name: "What", cell: ({ kind }) => kind },
      { name: "State", cell: ({ state }) => badge(state) },
      { name: "Nonce", numeric: true, cell: ({ nonce }) => nonce ?? "–" },
      { name: "Transaction", wide: true, cell: ({ txHash }) => (txHash === null ? "–" : onChain("tx", txHash, code)) },
      { name: "Created", numeric: true, cell: ({ createdAt }) => since(createdAt) },
    ],
  });
}
