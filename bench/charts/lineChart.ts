import { linearScale, logScale, stepScale } from "./scale.ts";

export type Axis = { label: string; scale: keyof typeof SCALES };

export type Series = {
  name: string;
  points: readonly { x: number; y: number }[];
  // The line that the chart is about: heavier, and with its values written beside it.
  main?: boolean;
};

export type LineChart = {
  title: string;
  // The chart in words, for whoever cannot see it.
  description: string;
  x: Axis;
  y: Axis;
  series: readonly Series[];
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
const SCALES = { log: logScale, linear: linearScale, step: stepScale };

// Colours that can be told apart by people who see few of them, for light and for dark backgrounds; each line has a mark of
// its own besides.
const STYLE = `
.card { fill: #ffffff; stroke: #d9dee5 } .grid { stroke: #e8ebef } .axis { stroke: #8b95a3 }
text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #4a5462 }
.title { font-size: 17px; font-weight: 600; fill: #16202c } .tick { font-size: 12px; font-variant-numeric: tabular-nums }
.value { font-size: 12px; font-weight: 600; font-variant-numeric: tabular-nums; paint-order: stroke; stroke: #ffffff; stroke-width: 3px }
.line { fill: none; stroke-width: 2; stroke-linejoin: round } .main { stroke-width: 3 }
.s0 { stroke: #0b63ce; fill: #0b63ce } .s1 { stroke: #c2410c; fill: #c2410c }
.s2 { stroke: #6d28d9; fill: #6d28d9 } .s3 { stroke: #4d7c0f; fill: #4d7c0f }
.line.s0, .line.s1, .line.s2, .line.s3 { fill: none } .value.s0 { fill: #0b63ce; stroke: #ffffff }
@media (prefers-color-scheme: dark) {
.card { fill: #11161d; stroke: #2b3440 } .grid { stroke: #232b35 } .axis { stroke: #6b7685 }
text { fill: #a9b4c2 } .title { fill: #eef2f7 } .value, .value.s0 { stroke: #11161d }
.s0 { stroke: #5aa9ff; fill: #5aa9ff } .s1 { stroke: #ff9a5c; fill: #ff9a5c }
.s2 { stroke: #b794ff; fill: #b794ff } .s3 { stroke: #a3d65c; fill: #a3d65c }
.value.s0 { fill: #5aa9ff } }
`;

const MARKS: readonly ((x: number, y: number) => string)[] = [
  (x, y) => `M${at(x - 4.5)} ${at(y)}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z`,
  (x, y) => `M${at(x - 4)} ${at(y - 4)}h8v8h-8z`,
  (x, y) => `M${at(x)} ${at(y - 5)}l5 9h-10z`,
  (x, y) => `M${at(x)} ${at(y - 5)}l5 5l-5 5l-5 -5z`,
];

// An SVG that needs nothing from elsewhere. The same data give the same text, to the letter.
export function lineChart({ title, description, x, y, series }: LineChart): string {
  const points = series.flatMap((line) => line.points);
  const top = series.length > 1 ? PLOT.top : TOP_WITHOUT_LEGEND;
  const across = SCALES[x.scale](
    points.map((point) => point.x),
    { from: PLOT.left, to: PLOT.right },
  );
  const up = SCALES[y.scale](
    points.map((point) => point.y),
    { from: PLOT.bottom, to: top },
  );
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escaped(title)}</title><desc id="description">${escaped(description)}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="card" x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="10"/>`,
    `<text class="title" x="24" y="38">${escaped(title)}</text>`,
    ...up.ticks.map((tick) => {
      const height = at(up.place(tick));
      return `<path class="grid" d="M${PLOT.left} ${height}H${PLOT.right}"/><text class="tick" x="${PLOT.left - 10}" y="${at(up.place(tick) + 4)}" text-anchor="end">${numberOf(tick)}</text>`;
    }),
    ...across.ticks.map((tick) => {
      const place = at(across.place(tick));
      return `<path class="axis" d="M${place} ${PLOT.bottom}v5"/><text class="tick" x="${place}" y="${PLOT.bottom + 21}" text-anchor="middle">${numberOf(tick)}</text>`;
    }),
    `<path class="axis" d="M${PLOT.left} ${PLOT.bottom}H${PLOT.right}"/>`,
    `<text x="${(PLOT.left + PLOT.right) / 2}" y="${HEIGHT - 22}" text-anchor="middle">${escaped(x.label)}</text>`,
    `<text transform="translate(22 ${(top + PLOT.bottom) / 2}) rotate(-90)" text-anchor="middle">${escaped(y.label)}</text>`,
    ...(series.length > 1 ? legendOf(series) : []),
    // The main line comes last, so that it lies above the others.
    ...series
      .map((line, index) => ({ line, drawn: drawn(line, index, across.place, up.place) }))
      .sort((a, b) => Number(a.line.main ?? false) - Number(b.line.main ?? false))
      .map((entry) => entry.drawn),
    "</svg>",
  ];
  return `${parts.join("\n")}\n`;
}

function legendOf(series: readonly Series[]): string[] {
  let left = 24;
  return series.map(({ name, main }, index) => {
    const mark = MARKS[index]?.(left + 14, LEGEND_TOP - 4) ?? "";
    const text = `<path class="line s${index}${main ? " main" : ""}" d="M${at(left)} ${LEGEND_TOP - 4}h28"/><path class="s${index}" d="${mark}"/><text x="${at(left + 36)}" y="${LEGEND_TOP}">${escaped(name)}</text>`;
    left += 36 + name.length * LETTER_WIDTH + LEGEND_GAP;
    return text;
  });
}

type Place = (value: number) => number;

function drawn({ points, main }: Series, index: number, across: Place, up: Place): string {
  const places = points.map((point) => ({ ...point, left: across(point.x), top: up(point.y) }));
  const line = places.map(({ left, top }, i) => `${i === 0 ? "M" : "L"}${at(left)} ${at(top)}`).join("");
  const marks = places.map(({ left, top }) => MARKS[index]?.(left, top) ?? "").join("");
  const values = main ? valuesOf(places, index) : "";
  return `<path class="line s${index}${main ? " main" : ""}" d="${line}"/><path class="s${index}" d="${marks}"/>${values}`;
}

type Placed = { y: number; left: number; top: number };

// The values of a line, where they do not lie on it: before a rise they end at the point, after a fall they begin at it, and
// the first one goes below a rise. One that has no room beside the one before it is left out; the table has them all.
function valuesOf(places: readonly Placed[], index: number): string {
  let free = Number.NEGATIVE_INFINITY;
  return places
    .map(({ left, top, y }, i) => {
      const text = numberOf(y);
      const width = text.length * VALUE_WIDTH;
      const rises = (places[i + 1]?.top ?? top) < top - STEEP;
      const fell = (places[i - 1]?.top ?? top) < top - STEEP;
      const anchor = i === places.length - 1 ? "end" : i === 0 || fell ? "start" : rises ? "end" : "middle";
      const x = left + (i === 0 ? 4 : i === places.length - 1 ? 6 : 0);
      const start = x - (anchor === "start" ? 0 : anchor === "end" ? width : width / 2);
      if (start < free) return "";
      free = start + width;
      const crossed = (places[i + 1]?.top ?? top) < top && top + 20 < PLOT.bottom;
      const height = i === 0 && crossed ? top + 20 : top - 11;
      return `<text class="value s${index}" x="${at(x)}" y="${at(height)}" text-anchor="${anchor}">${text}</text>`;
    })
    .join("");
}

// A tenth of a pixel is as fine as anybody sees.
const at = (place: number) => String(Math.round(place * 10) / 10);

function numberOf(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toLocaleString("en-US", { maximumFractionDigits: value >= 10 ? 1 : 2 });
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? "");
