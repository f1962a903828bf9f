import type { Batch, Component, Stats } from "../api/answers.ts";
import { ask } from "../api/ask.ts";
import { chart } from "../chart/chart.ts";
import { h } from "../page/dom.ts";
import { ago, count, duration, plural, size, usd } from "../page/format.ts";
import { badge, meter, money, pageWith, setChain, since, stat, table, toBatch } from "../page/parts.ts";
import { view } from "../view.ts";

// How much time the charts show, and in which steps.
const RANGES = [
  { minutes: 10, stepSeconds: 10, name: "10 min" },
  { minutes: 60, stepSeconds: 60, name: "1 h" },
  { minutes: 360, stepSeconds: 300, name: "6 h" },
  { minutes: 1_440, stepSeconds: 1_200, name: "24 h" },
  { minutes: 10_080, stepSeconds: 7_200, name: "7 d" },
] as const;
const LATEST = 6;
const DAY_MS = 86_400_000;
const DURATION_STEPS_MS = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200].map(
  (seconds) => seconds * 1_000,
);
const durationStep = (least: number) =>
  DURATION_STEPS_MS.find((step) => step >= least) ?? Math.ceil(least / DAY_MS) * DAY_MS;

type Data = { stats: Stats; batches: Batch[] };

export const overview = view<Data>({
  title: "Overview",
  async load({ options }) {
    const { minutes, stepSeconds } = rangeOf(options);
    const [stats, { batches }] = await Promise.all([
      ask<Stats>(`/v1/stats?minutes=${minutes}&stepSeconds=${stepSeconds}`),
      ask<{ batches: Batch[] }>(`/v1/batches?limit=${LATEST}`),
    ]);
    setChain(stats.chainId);
    return { stats, batches };
  },
  draw({ stats, batches }, { options }, { redraw }) {
    return pageWith(
      "Overview",
      [state(stats), ranges(rangeOf(options).minutes)],
      h("div", { class: "hero" }, sums(stats), queue(stats)),
      h("div", { class: "charts" }, charts(stats, redraw)),
      h("div", { class: "columns" }, latest(batches), health(stats)),
    );
  },
});

const rangeOf = (options: URLSearchParams) =>
  RANGES.find(({ minutes }) => `${minutes}` === options.get("minutes")) ?? RANGES[0];

function ranges(current: number): HTMLElement {
  return h(
    "nav",
    { class: "ranges", "aria-label": "Time shown" },
    RANGES.map(({ minutes, name }) =>
      h("a", { href: `#/?minutes=${minutes}`, "aria-current": minutes === current ? "true" : null }, name),
    ),
  );
}

function state({ halted, health: { ready, components } }: Stats): HTMLElement {
  if (halted !== null) return h("p", { class: "state bad" }, `Halted since ${ago(halted.since)}: ${halted.reason}`);
  const ill = Object.entries(components).find(([, { ok }]) => !ok);
  if (!ready && ill) return h("p", { class: "state warn" }, `Not ready, ${ill[0]}: ${ill[1].reason}`);
  return h("p", { class: "state good" }, "Settling");
}

const PARTS = ["settled", "pending", "absorbed", "refused", "voided"] as const;

// Whatever was accrued is in exactly one of these, to the unit.
function sums({ totals }: Stats): HTMLElement {
  const of = (part: (typeof PARTS)[number]) => totals[`${part}Usd`];
  return h(
    "section",
    { class: "panel sums", "aria-label": "All charges" },
    h(
      "div",
      { class: "lead" },
      h("div", {}, h("h2", {}, "Settled"), h("p", { class: "big", id: "settled" }, usd(totals.settledUsd))),
      h("div", {}, h("h2", {}, "Accrued"), h("p", { class: "big calm", id: "accrued" }, usd(totals.accruedUsd))),
    ),
    meter(
      PARTS.map((part) => ({ part: size(of(part)), class: part })),
      size(totals.accruedUsd),
    ),
    h(
      "dl",
      { class: "parts" },
      PARTS.map((part) =>
        h(
          "div",
          {},
          h("dt", {}, h("i", { class: `swatch ${part}` }), part),
          h("dd", { id: `sum-${part}` }, money(of(part))),
        ),
      ),
    ),
  );
}

function queue({ waiting, sessions, submissions, debtUsd, contests, timeline }: Stats): HTMLElement {
  const settled = timeline.reduce((sum, step) => sum + step.settledCharges, 0);
  const gas = timeline.reduce((sum, step) => sum + size(step.gasUsed), 0);
  const latencyMs = timeline.reduce((sum, step) => sum + step.latencyMs, 0);
  const onTheWay = submissions.reduce((sum, submission) => sum + submission.count, 0);
  return h(
    "dl",
    { class: "panel numbers" },
    stat("Gas per call", settled === 0 ? "–" : count(Math.round(gas / settled)), "mean of the time shown"),
    stat("Call to final", settled === 0 ? "–" : duration(latencyMs / settled), "mean of the time shown"),
    stat(
      "Waiting",
      count(waiting.charges),
      waiting.oldestDueAt === null ? "nothing is due" : `oldest due ${ago(waiting.oldestDueAt)}`,
    ),
    stat("On the way", count(onTheWay), "transactions not final"),
    stat("Open sessions", count(sessions.open), `${plural(sessions.runningCalls, "call")} running`),
    stat("Owed by payers", usd(debtUsd), "absorbed, not yet made good"),
    contests.open === 0
      ? []
      : stat("Contested", count(contests.open), `${usd(contests.chargedUsd)} to show receipts for`),
  );
}

function charts({ timeline, stepSeconds }: Stats, redraw: () => void): HTMLElement[] {
  const times = timeline.map(({ at }) => at);
  const per = duration(stepSeconds * 1_000);
  const dollars = (value: number) =>
    `$${value >= 1_000 ? count(Math.round(value)) : value.toFixed(value < 0.01 && value > 0 ? 4 : 2)}`;
  const perSettled = (of: (step: Stats["timeline"][number]) => number) =>
    timeline.map((step) => (step.settledCharges === 0 ? null : of(step) / step.settledCharges));
  const sum = (key: "accruedUsd" | "settledUsd" | "absorbedUsd" | "refusedUsd") =>
    timeline.map((step) => size(step[key]));
  return [
    chart({
      id: "chart-money",
      title: "Accrued and settled",
      description: `US dollars accrued and settled per ${per}.`,
      times,
      format: dollars,
      redraw,
      series: [
        { name: "accrued", class: "accrued", kind: "area", values: sum("accruedUsd") },
        { name: "settled", class: "settled", kind: "line", values: sum("settledUsd") },
      ],
    }),
    chart({
      id: "chart-losses",
      title: "Absorbed and refused",
      description: `US dollars that the platform absorbed, and that were refused for lack of stake, per ${per}.`,
      times,
      format: dollars,
      redraw,
      series: [
        { name: "absorbed", class: "absorbed", kind: "bar", values: sum("absorbedUsd") },
        { name: "refused", class: "refused", kind: "bar", values: sum("refusedUsd") },
      ],
    }),
    chart({
      id: "chart-gas",
      title: "Gas per call",
      description: `Gas of final batches divided by their charges, per ${per}.`,
      times,
      format: (value) => count(Math.round(value)),
      redraw,
      series: [{ name: "gas", class: "gas", kind: "area", values: perSettled(({ gasUsed }) => size(gasUsed)) }],
    }),
    chart({
      id: "chart-latency",
      title: "Time from call to final settlement",
      description: `Mean time from accrual until the chain cannot undo the settlement, per ${per}.`,
      times,
      format: duration,
      stepOf: durationStep,
      redraw,
      series: [{ name: "latency", class: "latency", kind: "area", values: perSettled(({ latencyMs }) => latencyMs) }],
    }),
  ];
}

function latest(batches: readonly Batch[]): HTMLElement {
  return table({
    caption: "Latest batches",
    rows: batches,
    keyOf: ({ batchId }) => batchId,
    empty: "No batch yet. The first one is planned as soon as a charge is due.",
    columns: [
      { name: "Batch", cell: ({ batchId }) => toBatch(batchId) },
      { name: "State", cell: ({ state: now }) => badge(now) },
      { name: "Charges", numeric: true, cell: ({ charges }) => count(charges) },
      { name: "Total", numeric: true, cell: ({ totalUsd }) => usd(totalUsd) },
      { name: "Created", numeric: true, wide: true, cell: ({ createdAt }) => since(createdAt) },
    ],
  });
}

function health({ health: { components } }: Stats): HTMLElement {
  return table<[string, Component]>({
    caption: "Health",
    rows: Object.entries(components),
    keyOf: ([name]) => name,
    empty: "",
    columns: [
      { name: "Part", cell: ([name]) => name },
      { name: "State", cell: ([, { ok }]) => badge(ok ? "healthy" : "unhealthy", ok ? "good" : "bad") },
      { name: "Why", cell: ([, { reason }]) => h("span", { class: "reason" }, reason) },
    ],
  });
}
