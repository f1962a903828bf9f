import type { Audit } from "../api/answers.ts";
import { ask, tell } from "../api/ask.ts";
import { h } from "../page/dom.ts";
import { ago, duration, plural } from "../page/format.ts";
import { facts, page, table, when } from "../page/parts.ts";
import { view } from "../view.ts";

export const audit = view<Audit>({
  title: "Audit",
  needsLogin: true,
  load: () => ask("/v1/audit"),
  draw(data, _place, { reload }) {
    const isRunning = data.runningSince !== null;
    const run = async () => {
      await tell("/v1/audit", {}).catch(() => undefined);
      reload();
    };
    return page(
      "Audit",
      h(
        "section",
        { class: "panel" },
        h(
          "p",
          { class: "prose" },
          "Reads every settlement from the chain again and adds up every counter of the ledger, trusting nothing that was recorded along the way.",
        ),
        h(
          "p",
          {},
          h(
            "button",
            { type: "button", onclick: () => void run(), disabled: isRunning },
            isRunning ? "Running …" : "Run the audit",
          ),
        ),
        data.runningSince !== null && h("p", { role: "status" }, `Running since ${ago(data.runningSince)}`),
      ),
      data.last === null
        ? h("p", { class: "empty panel" }, "No audit has run since this daemon started.")
        : findings(data.last),
    );
  },
});

function findings({ startedAt, durationMs, batches, differences, failure }: NonNullable<Audit["last"]>) {
  const verdict =
    failure !== null
      ? h("p", { class: "verdict warn" }, `There is no verdict: ${failure}`)
      : differences.length === 0
        ? h(
            "p",
            { class: "verdict good" },
            `The ledger is right: ${plural(batches ?? 0, "batch", "batches")} on chain, and nothing differs.`,
          )
        : h("p", { class: "verdict bad" }, `${plural(differences.length, "line differs", "lines differ")}.`);
  return [
    verdict,
    h(
      "section",
      { class: "panel" },
      facts([
        ["Began", when(startedAt)],
        ["Took", duration(durationMs)],
      ]),
    ),
    differences.length > 0 &&
      table({
        caption: "What differs",
        rows: differences,
        keyOf: (difference) => difference,
        empty: "",
        columns: [{ name: "Difference", cell: (difference) => difference }],
      }),
  ];
}
