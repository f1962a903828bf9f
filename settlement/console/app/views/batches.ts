import type { Batch } from "../api/answers.ts";
import { ask } from "../api/ask.ts";
import { h } from "../page/dom.ts";
import { count, gasPerCall, usd } from "../page/format.ts";
import { badge, code, offsetOf, onChain, page, pages, since, table, toBatch } from "../page/parts.ts";
import { view } from "../view.ts";

const PAGE = 50;

export const batches = view<{ batches: Batch[] }>({
  title: "Batches",
  load: ({ options }) => ask(`/v1/batches?limit=${PAGE}&offset=${offsetOf(options)}`),
  draw({ batches: rows }, { options }) {
    return page(
      "Batches",
      table({
        caption: "Batches, newest first",
        isTitled: false,
        rows,
        keyOf: ({ batchId }) => batchId,
        empty: "No batch yet. The first one is planned as soon as a charge is due.",
        columns: [
          { name: "Batch", cell: ({ batchId }) => toBatch(batchId) },
          { name: "State", cell: ({ state }) => badge(state) },
          { name: "Rows", numeric: true, wide: true, cell: ({ rows: n }) => count(n) },
          { name: "Charges", numeric: true, cell: ({ charges }) => count(charges) },
          { name: "Total", numeric: true, cell: ({ totalUsd }) => usd(totalUsd) },
          {
            name: "Charged",
            numeric: true,
            wide: true,
            cell: ({ outcome }) => (outcome ? usd(outcome.chargedUsd) : "–"),
          },
          {
            name: "Gas per call",
            numeric: true,
            wide: true,
            cell: ({ gasUsed, charges }) => gasPerCall(gasUsed, charges),
          },
          { name: "Not charged", wide: true, cell: ({ outcome }) => shortfall(outcome) },
          { name: "Transaction", wide: true, cell: ({ txHash }) => (txHash ? onChain("tx", txHash, code) : "–") },
          { name: "Created", numeric: true, wide: true, cell: ({ createdAt }) => since(createdAt) },
        ],
      }),
      pages("batches", offsetOf(options), rows.length, PAGE),
    );
  },
});

function shortfall(outcome: Batch["outcome"]) {
  if (outcome === null) return "–";
  const { failed, refused } = outcome;
  if (failed.length + refused.length === 0) return h("span", { class: "zero" }, "none");
  return [
    failed.length > 0 && badge(`${failed.length} failed`, "bad"),
    " ",
    refused.length > 0 && badge(`${refused.length} refused`, "warn"),
  ];
}
