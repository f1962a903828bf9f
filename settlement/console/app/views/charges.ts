import type { Charge } from "../api/answers.ts";
import { ask } from "../api/ask.ts";
import { h } from "../page/dom.ts";
import { usd } from "../page/format.ts";
import { badge, type Column, pageWith, table, toBatch, toCharge, tool, toPayer, when } from "../page/parts.ts";
import { view } from "../view.ts";
import { findForm } from "./find.ts";

const PAGE = 50;

export const charges = view<{ charges: Charge[]; next: string | null }>({
  title: "Charges",
  needsLogin: true,
  load: ({ options }) => {
    const before = options.get("before");
    return ask(`/v1/charges?limit=${PAGE}${before === null ? "" : `&before=${encodeURIComponent(before)}`}`);
  },
  draw: ({ charges: rows, next }) =>
    pageWith(
      "Charges",
      findForm(),
      chargesTable("Charges, newest first", rows, { isTitled: false }),
      next !== null && h("p", { class: "pages" }, h("a", { href: `#/charges?before=${next}` }, "Older")),
    ),
});

export function chargesTable(caption: string, rows: readonly Charge[], { isTitled = true, ofOne = false } = {}) {
  const columns: Column<Charge>[] = [
    { name: "Charge", cell: ({ chargeId }) => toCharge(chargeId) },
    { name: "State", cell: ({ state }) => badge(state) },
    { name: "Amount", numeric: true, cell: ({ amountUsd }) => usd(amountUsd) },
    { name: "Accrued", wide: true, cell: ({ accruedAt }) => when(accruedAt) },
    { name: "For", wide: true, cell: ({ toolId }) => (toolId === null ? "model" : tool(toolId)) },
    {
      name: "From",
      wide: true,
      cell: ({ turnId, callId }) => (turnId === undefined ? `call ${callId}` : `turn ${turnId}`),
    },
    { name: "Payer", wide: true, cell: ({ payer }) => toPayer(payer) },
    { name: "Batch", wide: true, cell: ({ batchId }) => (batchId === null ? "–" : toBatch(batchId)) },
  ];
  return table({
    caption,
    isTitled,
    rows,
    keyOf: ({ chargeId }) => chargeId,
    empty: "Nothing was charged yet.",
    columns: ofOne ? columns.filter(({ name }) => name !== "Payer") : columns,
  });
}
