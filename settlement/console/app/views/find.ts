import type { Found } from "../api/answers.ts";
import { ask } from "../api/ask.ts";
import { h } from "../page/dom.ts";
import { pageWith, toBatch, toPayer } from "../page/parts.ts";
import { view } from "../view.ts";
import { chargesTable } from "./charges.ts";

export const find = view<Found>({
  title: "Find",
  needsLogin: true,
  load: ({ id }) => ask(`/v1/find?id=${encodeURIComponent(id ?? "")}`),
  draw({ charges, batchId, payer }, { id }) {
    const isNothing = charges.length === 0 && batchId === null && payer === null;
    return pageWith(
      "Find",
      findForm(id ?? ""),
      batchId !== null && h("p", { class: "panel" }, "Batch ", toBatch(batchId)),
      payer !== null && h("p", { class: "panel" }, "Payer ", toPayer(payer)),
      charges.length > 0 && chargesTable("Charges", charges),
      isNothing && h("p", { class: "empty panel" }, `Nothing here is called ${id}.`),
    );
  },
});

// Whatever id a log line or a payer's question names.
export function findForm(value = ""): HTMLElement {
  const onsubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const id = (event.target as HTMLFormElement).querySelector("input")?.value.trim();
    if (id) location.hash = `#/find/${encodeURIComponent(id)}`;
  };
  return h(
    "form",
    { class: "find", role: "search", onsubmit },
    h("label", { for: "find", class: "unseen" }, "Id of a turn, call, charge, batch or payer"),
    h("input", {
      id: "find",
      type: "search",
      value,
      placeholder: "Turn, call, charge, batch or payer",
      autocomplete: "off",
    }),
    h("button", { type: "submit" }, "Find"),
  );
}
