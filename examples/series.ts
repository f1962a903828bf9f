import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { answer, method } from "./method.ts";

const MAX_VALUES = 100_000;
const MAX_WINDOW = 1_000;

const values = z
  .array(z.number())
  .min(2)
  .max(MAX_VALUES)
  .describe("the series, oldest value first")
  .meta({ examples: [[100, 102, 101, 105, 110]] });
const results = z.array(z.number().nullable());

// Arithmetic over time series: what an agent would otherwise get wrong in its head.
export function createSeries(): McpServer {
  const server = new McpServer({ name: "series", version: "1.0.0" });

  server.registerTool(
    "describe",
    method({
      description: "Count, mean, sample standard deviation, minimum, median and maximum of a series.",
      price: "0.001",
      input: { values },
      output: {
        count: z.number().int(),
        mean: z.number(),
        deviation: z.number(),
        min: z.number(),
        median: z.number(),
        max: z.number(),
      },
    }),
    ({ values }) => {
      const sorted = values.toSorted((a, b) => a - b);
      const middle = sorted.length / 2;
      return answer({
        count: values.length,
        mean: meanOf(values),
        deviation: Math.sqrt(covarianceOf(values, values)),
        min: at(sorted, 0),
        median: (at(sorted, Math.ceil(middle - 1)) + at(sorted, Math.floor(middle))) / 2,
        max: at(sorted, -1),
      });
    },
  );

  server.registerTool(
    "moving_average",
    method({
      description: "The simple moving average of a series; null where the window is not full yet.",
      price: "0.001",
      input: {
        values,
        window: z.number().int().min(1).max(MAX_WINDOW).default(3).describe("how many values are averaged"),
      },
      output: { averages: results },
    }),
    ({ values, window }) => {
      // Each window by itself: a running sum would carry its rounding along.
      const averages = values.map((_, i) => (i < window - 1 ? null : meanOf(values.slice(i + 1 - window, i + 1))));
      return answer({ averages });
    },
  );

  server.registerTool(
    "returns",
    method({
      description: "The change from each value to the next, and the deepest fall from any peak, both as fractions.",
      price: "0.001",
      input: { values, kind: z.enum(["simple", "log"]).default("simple") },
      output: { returns: results, total: z.number().nullable(), drawdown: z.number() },
    }),
    ({ values, kind }) => {
      const change = (from: number, to: number) => finite(kind === "log" ? Math.log(to / from) : to / from - 1);
      let peak = at(values, 0);
      let drawdown = 0;
      for (const value of values) {
        peak = Math.max(peak, value);
        if (peak > 0) drawdown = Math.max(drawdown, 1 - value / peak);
      }
      return answer({
        returns: values.slice(1).map((value, i) => change(at(values, i), value)),
        total: change(at(values, 0), at(values, -1)),
        drawdown,
      });
    },
  );

  server.registerTool(
    "correlation",
    method({
      description: "Pearson's correlation of two series of one length; null if one of them never moves.",
      price: "0.002",
      input: { a: values, b: values },
      output: { correlation: z.number().nullable() },
    }),
    ({ a, b }) => {
      if (a.length !== b.length)
        throw new Error(`the series have ${a.length} and ${b.length} values; they must have as many`);
      return answer({ correlation: finite(covarianceOf(a, b) / Math.sqrt(covarianceOf(a, a) * covarianceOf(b, b))) });
    },
  );

  return server;
}

// JSON has no word for what is not a number.
const finite = (value: number) => (Number.isFinite(value) ? value : null);

const at = (values: readonly number[], index: number): number => values.at(index) ?? Number.NaN;

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

function covarianceOf(a: readonly number[], b: readonly number[]): number {
  const [meanA, meanB] = [meanOf(a), meanOf(b)];
  return a.reduce((sum, value, i) => sum + (value - meanA) * (at(b, i) - meanB), 0) / (a.length - 1);
}
