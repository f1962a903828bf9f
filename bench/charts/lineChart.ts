import { drawGrid, drawSeries, rounded } from "../../settlement/console/app/chart/plot.ts";
import type { Scale } from "../../settlement/console/app/chart/scale.ts";
import { SCALES } from "./scales.ts";
import { type SvgText, svgText } from "./svgText.ts";

export type LineChart = {
  title: string;
  // The chart in words, for whoever cannot see it.
  description: string;
  x: Axis & { values: readonly number[] };
  y: Axis;
  lines: readonly Line[];
};

type Axis = { label: string; scale: keyof typeof SCALES };

export type Line = {
  name: string;
  // One for each value of x.
  values: readonly number[];
  // The line that the chart is about: heavier, and with its values written beside it.
  main?: boolean;
};

const WIDTH = 760;
const HEIGHT = 440;
const PLOT = { left: 88, right: 718, top: 112, bottom: 372 };
// A single line needs no legend.
const TOP_WITHOUT_LEGEND = 84;
const LEGEND_TOP = 70;
const LEGEND_GAP = 22;
const LETTER_WIDTH = 6.6;
const VALUE_WIDTH = 8;
// From so many pixels on, a line that rises would cross a number above its point.
const STEEP = 24;

// Colours that can be told apart by people who see few of them, for light and for dark backgrounds; each line has a mark of
// its own besides.
const STYLE = `
.card { fill: #ffffff; stroke: #d9dee5 } .grid { stroke: #e8ebef } .axis { stroke: #8b95a3 }
text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #4a5462 }
.title { font-size: 17px; font-weight: 600; fill: #16202c } .tick { font-size: 12px; font-variant-numeric: tabular-nums }
.value { font-size: 12px; font-weight: 600; font-variant-numeric: tabular-nums; paint-order: stroke; stroke: #ffffff; stroke-width: 3px }
path.line { fill: none; stroke-width: 2; stroke-linejoin: round } .main path.line { stroke-width: 3 }
.s0 { stroke: #0b63ce; fill: #0b63ce } .s1 { stroke: #c2410c; fill: #c2410c }
.s2 { stroke: #6d28d9; fill: #6d28d9 } .s3 { stroke: #4d7c0f; fill: #4d7c0f }
.value.s0 { fill: #0b63ce; stroke: #ffffff }
@media (prefers-color-scheme: dark) {
.card { fill: #11161d; stroke: #2b3440 } .grid { stroke: #232b35 } .axis { stroke: #6b7685 }
text { fill: #a9b4c2 } .title { fill: #eef2f7 } .value, .value.s0 { stroke: #11161d }
.s0 { stroke: #5aa9ff; fill: #5aa9ff } .s1 { stroke: #ff9a5c; fill: #ff9a5c }
.s2 { stroke: #b794ff; fill: #b794ff } .s3 { stroke: #a3d65c; fill: #a3d65c }
.value.s0 { fill: #5aa9ff } }
`;

const MARKS: readonly ((x: number, y: number) => string)[] = [
  (x, y) => `M${rounded(x - 4.5)} ${rounded(y)}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z`,
  (x, y) => `M${rounded(x - 4)} ${rounded(y - 4)}h8v8h-8z`,
  (x, y) => `M${rounded(x)} ${rounded(y - 5)}l5 9h-10z`,
  (x, y) => `M${rounded(x)} ${rounded(y - 5)}l5 5l-5 5l-5 -5z`,
];

// An SVG that needs nothing from elsewhere: the console's drawing, with words around it. The same data give the same text,
// to the letter.
export function lineChart({ title, description, x, y, lines }: LineChart): string {
  const top = lines.length > 1 ? PLOT.top : TOP_WITHOUT_LEGEND;
  const across = SCALES[x.scale](x.values, { from: PLOT.left, to: PLOT.right });
  const up = SCALES[y.scale](
    lines.flatMap(({ values }) => values),
    { from: PLOT.bottom, to: top },
  );
  const series = lines.map(({ name, values, main }, order) => ({
    name,
    class: classOf(order, main),
    kind: "line" as const,
    values,
    mark: MARKS[order] ?? (() => ""),
    main: main ?? false,
  }));
  const places = x.values.map(across.place);
  // The main line comes last, so that it lies above the others.
  const byWeight = series.toSorted((a, b) => Number(a.main) - Number(b.main));
  const { svg } = svgText(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-labelledby": "title description",
    },
    svgText("title", { id: "title" }, title),
    svgText("desc", { id: "description" }, description),
    svgText("style", {}, STYLE),
    svgText("rect", { class: "card", x: 0.5, y: 0.5, width: WIDTH - 1, height: HEIGHT - 1, rx: 10 }),
    svgText("text", { class: "title", x: 24, y: 38 }, title),
    drawGrid(svgText, up, { from: PLOT.left, to: PLOT.right }),
    ticksUp(up),
    ticksAcross(across),
    svgText("path", { class: "axis", d: `M${PLOT.left} ${PLOT.bottom}H${PLOT.right}` }),
    svgText("text", { x: (PLOT.left + PLOT.right) / 2, y: HEIGHT - 22, "text-anchor": "middle" }, x.label),
    svgText(
      "text",
      { transform: `translate(22 ${(top + PLOT.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" },
      y.label,
    ),
    lines.length > 1 && legendOf(lines),
    drawSeries(svgText, { places, stepWidth: 0, up, series: byWeight, isRunning: false }),
    lines.map(({ values, main }, order) => main === true && valuesOf(values, places, up, order)),
  );
  return svg;
}

const classOf = (order: number, main = false) => `s${order}${main ? " main" : ""}`;

function ticksUp(up: Scale): SvgText[] {
  return up.ticks.map((tick) =>
    svgText(
      "text",
      { class: "tick", x: PLOT.left - 10, y: rounded(up.place(tick) + 4), "text-anchor": "end" },
      numberOf(tick),
    ),
  );
}

function ticksAcross(across: Scale): SvgText[] {
  return across.ticks.flatMap((tick) => {
    const x = rounded(across.place(tick));
    return [
      svgText("path", { class: "axis", d: `M${x} ${PLOT.bottom}v5` }),
      svgText("text", { class: "tick", x, y: PLOT.bottom + 21, "text-anchor": "middle" }, numberOf(tick)),
    ];
  });
}

function legendOf(lines: readonly Line[]): SvgText[] {
  let left = 24;
  return lines.flatMap(({ name, main }, order) => {
    const sample = [
      svgText("path", { class: "line", d: `M${rounded(left)} ${LEGEND_TOP - 4}h28` }),
      svgText("path", { class: "mark", d: MARKS[order]?.(left + 14, LEGEND_TOP - 4) ?? "" }),
    ];
    const words = svgText("text", { x: rounded(left + 36), y: LEGEND_TOP }, name);
    left += 36 + name.length * LETTER_WIDTH + LEGEND_GAP;
    return [svgText("g", { class: `line ${classOf(order, main)}` }, sample), words];
  });
}

// The values of a line, where they do not lie on it: before a rise they end at the point, after a fall they begin at it, and
// the first one goes below a rise. One that has no room beside the one before it is left out; the table has them all.
function valuesOf(values: readonly number[], places: readonly number[], up: Scale, order: number): SvgText[] {
  const tops = values.map(up.place);
  let free = Number.NEGATIVE_INFINITY;
  return values.flatMap((value, i) => {
    const top = tops[i] ?? 0;
    const before = tops[i - 1] ?? top;
    const after = tops[i + 1] ?? top;
    const isLast = i === values.length - 1;
    const text = numberOf(value);
    const width = text.length * VALUE_WIDTH;
    const fell = before < top - STEEP;
    const rises = after < top - STEEP;
    const anchor = isLast ? "end" : i === 0 || fell ? "start" : rises ? "end" : "middle";
    const x = (places[i] ?? 0) + (i === 0 ? 4 : isLast ? 6 : 0);
    const start = x - (anchor === "start" ? 0 : anchor === "end" ? width : width / 2);
    if (start < free) return [];
    free = start + width;
    const crossed = after < top && top + 20 < PLOT.bottom;
    const y = i === 0 && crossed ? top + 20 : top - 11;
    const attributes = { class: `value s${order}`, x: rounded(x), y: rounded(y), "text-anchor": anchor };
    return [svgText("text", attributes, text)];
  });
}

function numberOf(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toLocaleString("en-US", { maximumFractionDigits: value >= 10 ? 1 : 2 });
}
