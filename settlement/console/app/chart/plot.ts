// The drawing of a chart without its words: for the console as elements of the page, for the documentation as text. Here is
// neither a document nor a file.
import type { Scale } from "./scale.ts";

export type Series = {
  name: string;
  // The class that its colour comes from.
  class: string;
  kind: "area" | "line" | "bar";
  // Null where there was nothing to measure.
  values: readonly (number | null)[];
  // The outline of a mark at each value, if it has one.
  mark?: (x: number, y: number) => string;
};

// Makes an element of SVG, in whatever form it is needed.
export type Create<E> = (tag: string, attributes: Attributes, ...children: readonly Children<E>[]) => E;
export type Attributes = Readonly<Record<string, string | number>>;
export type Children<E> = E | string | false | null | readonly Children<E>[];

export type Plot = {
  // Where the middle of each step is, and how wide a step is.
  places: readonly number[];
  stepWidth: number;
  up: Scale;
  series: readonly Series[];
  // Whether the last step has not ended. The way to it is only hinted at then.
  isRunning: boolean;
};

const BAR_SHARE = 0.7;

export function drawGrid<E>(create: Create<E>, up: Scale, { from, to }: { from: number; to: number }): E[] {
  return up.ticks.map((tick) => {
    const y = rounded(up.place(tick));
    return create("line", { class: "grid", x1: from, x2: to, y1: y, y2: y });
  });
}

export function drawSeries<E>(create: Create<E>, plot: Plot): E[] {
  return plot.series.map((one, order) => {
    const drawn = one.kind === "bar" ? drawBars(create, plot, order) : drawLine(create, plot, one);
    return create("g", { class: `${one.kind} ${one.class}` }, drawn);
  });
}

// What the bars of the first series at one step come to: they stand on each other.
export function stackOf(series: readonly Series[], step: number): number {
  return series.reduce((sum, { kind, values }) => sum + (kind === "bar" ? (values[step] ?? 0) : 0), 0);
}

function drawBars<E>(create: Create<E>, { places, stepWidth, up, series }: Plot, order: number): Children<E>[] {
  const width = BAR_SHARE * stepWidth;
  return places.map((place, step) => {
    const value = series[order]?.values[step] ?? 0;
    if (value === 0) return null;
    const top = up.place(stackOf(series.slice(0, order + 1), step));
    const height = up.place(0) - up.place(value);
    return create("rect", {
      x: rounded(place - width / 2),
      width: rounded(width),
      y: rounded(top),
      height: rounded(height),
    });
  });
}

type Point = { x: number; y: number };

// Steps without a measurement are passed over, and one on its own is drawn as wide as its step.
function drawLine<E>(
  create: Create<E>,
  { places, stepWidth, up, isRunning }: Plot,
  { kind, values, mark }: Series,
): Children<E>[] {
  const known = values.flatMap((value, step) =>
    value === null ? [] : [{ x: places[step] ?? 0, y: up.place(value), isLast: step === values.length - 1 }],
  );
  const [only] = known;
  const line =
    known.length === 1 && only !== undefined
      ? [
          { x: only.x - stepWidth / 2, y: only.y },
          { x: only.x + stepWidth / 2, y: only.y },
        ]
      : known.filter(({ isLast }) => !(isRunning && isLast));
  const under = `${pathOf(line)}V${rounded(up.place(0))}H${rounded(line[0]?.x ?? 0)}Z`;
  return [
    kind === "area" && line.length > 0 && create("path", { class: "under", d: under }),
    create("path", { class: "line", d: pathOf(line) }),
    known.length > line.length && create("path", { class: "line running", d: pathOf(known.slice(-2)) }),
    mark !== undefined && create("path", { class: "mark", d: known.map(({ x, y }) => mark(x, y)).join("") }),
  ];
}

const pathOf = (points: readonly Point[]) =>
  points.map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${rounded(x)} ${rounded(y)}`).join("");

// A hundredth of a pixel is finer than anybody sees.
export const rounded = (place: number) => Math.round(place * 100) / 100;
