import { type Child, h, s } from "../page/dom.ts";
import { minute } from "../page/format.ts";
import { drawGrid, drawSeries, type Series, stackOf } from "./plot.ts";
import { decimalSteps, linearScale, type Scale, type StepOf } from "./scale.ts";

export type ChartOptions = {
  id: string;
  title: string;
  // What the numbers are, for those who do not see the drawing.
  description: string;
  times: readonly string[];
  series: readonly Series[];
  format: (value: number) => string;
  // Which steps of the scale read well, if not decimal ones.
  stepOf?: StepOf;
  redraw: () => void;
};

const WIDTH = 1_000;
const HEIGHT = 100;
// There is room for few words beside the drawing.
const SCALE_STEPS = 2;
const DECIMAL_STEPS = decimalSteps([1, 1.5, 2, 2.5, 3, 4, 5, 7.5]);

// What the reader is looking at survives every update: by chart, the step under the cursor, and whether its table is open.
const cursors = new Map<string, number>();
const open = new Set<string>();

// A drawing that stretches to any width: lines keep their thickness, and words are HTML beside it. The cursor follows the
// pointer or the arrow keys; the same numbers stand in a table below.
export function chart(options: ChartOptions): HTMLElement {
  const { id, title, description, times, series, format, redraw } = options;
  const shown = times.flatMap((_, i) => [stackOf(series, i), ...series.map(({ values }) => values[i] ?? 0)]);
  const up = linearScale(shown, { from: HEIGHT, to: 0 }, SCALE_STEPS, options.stepOf ?? DECIMAL_STEPS);
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
        up.ticks.toReversed().map((value) => h("span", {}, format(value))),
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
        draw(options, up, at),
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

function draw({ id, title, description, times, series }: ChartOptions, up: Scale, at: number): SVGElement {
  const stepWidth = WIDTH / Math.max(1, times.length);
  const places = times.map((_, i) => (i + 0.5) * stepWidth);
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
    drawGrid(s, up, { from: 0, to: WIDTH }),
    at >= 0 && s("rect", { class: "cursor", x: at * stepWidth, y: 0, width: stepWidth, height: HEIGHT }),
    drawSeries(s, { places, stepWidth, up, series, isRunning: true }),
  );
}

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

const TICKS = 5;
const ticksOf = (times: readonly string[]) =>
  Array.from({ length: TICKS }, (_, i) => times[Math.round((i * (times.length - 1)) / (TICKS - 1))] ?? "").filter(
    Boolean,
  );
