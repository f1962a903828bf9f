import { type Child, h, s } from "./dom.ts";
import { minute } from "./format.ts";

export type Series = {
  name: string;
  // The class that its colour comes from.
  class: string;
  kind: "area" | "line" | "bar";
  // Null where there was nothing to measure.
  values: readonly (number | null)[];
};

export type ChartOptions = {
  id: string;
  title: string;
  // What the numbers are, for those who do not see the drawing.
  description: string;
  times: readonly string[];
  series: readonly Series[];
  format: (value: number) => string;
  // Where the scale may end, smallest first, if not at a round decimal number.
  ceilings?: readonly number[];
  redraw: () => void;
};

const WIDTH = 1_000;
const HEIGHT = 100;

// What the reader is looking at survives every update: by chart, the step under the cursor, and whether its table is open.
const cursors = new Map<string, number>();
const open = new Set<string>();

// A drawing that stretches to any width: lines keep their thickness, and words are HTML beside it. The cursor follows the
// pointer or the arrow keys; the same numbers stand in a table below.
export function chart(options: ChartOptions): HTMLElement {
  const { id, title, description, times, series, format, redraw } = options;
  const highest = Math.max(
    0,
    ...times.map((_, i) => Math.max(stackOf(series, i), ...series.map(({ values }) => values[i] ?? 0))),
  );
  const top = options.ceilings?.find((ceiling) => ceiling >= highest) ?? niceCeiling(highest);
  const at = Math.min(cursors.get(id) ?? -1, times.length - 1);
  const isEmpty = series.every(({ values }) => values.every((value) => !value));

  function move(to: number | null): void {
    if (to === null) cursors.delete(id);
    else cursors.set(id, Math.max(0, Math.min(times.length - 1, to)));
    redraw();
  }
  const onpointermove = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const step = Math.floor(((event.clientX - box.left) / box.width) * times.length);
    if (step !== at) move(step);
  };
  const onkeydown = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    move((at === -1 ? times.length - (by === 1 ? 1 : 0) : at) + by);
  };

  return h(
    "figure",
    { class: "chart panel", id },
    h("figcaption", {}, h("h2", {}, title), legend(options, at)),
    h(
      "div",
      { class: "plot" },
      h(
        "div",
        { class: "scale", "aria-hidden": "true" },
        [top, top / 2, 0].map((value) => h("span", {}, format(value))),
      ),
      h(
        "div",
        {
          class: "canvas",
          tabindex: 0,
          role: "group",
          "aria-label": `${title}: left and right arrow keys read the values`,
          onpointermove,
          onpointerleave: () => move(null),
          onblur: () => move(null),
          onkeydown,
        },
        draw(options, top, at),
        isEmpty && h("p", { class: "none" }, "Nothing yet in this time"),
      ),
      h(
        "div",
        { class: "times", "aria-hidden": "true" },
        ticksOf(times).map((time) => h("span", {}, minute(time))),
      ),
    ),
    h(
      "details",
      {
        ontoggle: (event: Event) => {
          const isOpen = (event.currentTarget as HTMLDetailsElement).open;
          if (isOpen === open.has(id)) return;
          if (isOpen) open.add(id);
          else open.delete(id);
          redraw();
        },
      },
      h("summary", { "aria-label": `${title} as a table` }, "Table"),
      open.has(id) && valuesTable(options),
    ),
    h("p", { class: "unseen" }, description),
  );
}

function legend({ series, times, format }: ChartOptions, at: number): HTMLElement {
  const value = ({ values }: Series) => (values[at] === null ? "–" : format(values[at] ?? 0));
  return h(
    "output",
    { class: "legend" },
    at >= 0 && h("span", { class: "moment" }, minute(times[at] ?? "")),
    series.map((one) =>
      h("span", {}, h("i", { class: `swatch ${one.class}` }), one.name, at >= 0 && h("b", {}, ` ${value(one)}`)),
    ),
  );
}

function draw({ id, title, description, times, series }: ChartOptions, top: number, at: number): SVGElement {
  const step = WIDTH / Math.max(1, times.length);
  const y = (value: number) => HEIGHT - (HEIGHT * value) / top;
  return s(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-labelledby": `${id}-title ${id}-description`,
    },
    s("title", { id: `${id}-title` }, title),
    s("desc", { id: `${id}-description` }, description),
    [0, 0.5, 1].map((part) => s("line", { class: "grid", x1: 0, x2: WIDTH, y1: HEIGHT * part, y2: HEIGHT * part })),
    at >= 0 && s("rect", { class: "cursor", x: at * step, y: 0, width: step, height: HEIGHT }),
    series.map((one, order) => {
      if (one.kind !== "bar") return drawLine(one, step, y);
      const bars = one.values.map((value, i) => {
        const upTo = stackOf(series.slice(0, order + 1), i);
        return value && s("rect", { x: (i + 0.15) * step, width: 0.7 * step, y: y(upTo), height: HEIGHT - y(value) });
      });
      return s("g", { class: `bar ${one.class}` }, bars);
    }),
  );
}

// The last step is still running, so the way to it is only hinted at. Steps without a measurement are passed over, and one
// on its own is drawn as wide as its step.
function drawLine({ kind, class: name, values }: Series, step: number, y: (value: number) => number): SVGElement {
  const known = values.flatMap((value, i) => (value === null ? [] : [{ x: (i + 0.5) * step, y: y(value), i }]));
  const done = known.filter(({ i }) => i < values.length - 1);
  const [only] = known;
  const points =
    known.length === 1 && only
      ? [
          { ...only, x: only.x - step / 2 },
          { ...only, x: only.x + step / 2 },
        ]
      : done;
  const [first, last] = [points[0], points.at(-1)];
  return s(
    "g",
    { class: `${kind} ${name}` },
    kind === "area" && first && last && s("path", { class: "under", d: `${pathOf(points)}V${HEIGHT}H${first.x}Z` }),
    s("path", { class: "line", d: pathOf(points) }),
    known.length > points.length && s("path", { class: "line running", d: pathOf(known.slice(-2)) }),
  );
}

const pathOf = (points: readonly { x: number; y: number }[]) =>
  points.map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(2)}`).join("");

function valuesTable({ title, times, series, format }: ChartOptions): Child {
  return h(
    "table",
    {},
    h("caption", { class: "unseen" }, title),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "From"),
        series.map(({ name }) => h("th", { scope: "col", class: "number" }, name)),
      ),
    ),
    h(
      "tbody",
      {},
      times.map((time, i) =>
        h(
          "tr",
          { "data-key": time },
          h("th", { scope: "row" }, minute(time)),
          series.map(({ values }) => h("td", { class: "number" }, values[i] === null ? "–" : format(values[i] ?? 0))),
        ),
      ),
    ),
  );
}

// Bars stand on each other.
const stackOf = (series: readonly Series[], i: number) =>
  series.reduce((sum, { kind, values }) => sum + (kind === "bar" ? (values[i] ?? 0) : 0), 0);

const TICKS = 5;
const ticksOf = (times: readonly string[]) =>
  Array.from({ length: TICKS }, (_, i) => times[Math.round((i * (times.length - 1)) / (TICKS - 1))] ?? "").filter(
    Boolean,
  );

// The next number above that reads well, and whose half does.
function niceCeiling(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value * 1.02) ?? 10);
}
