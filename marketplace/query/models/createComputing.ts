import { hash } from "node:crypto";
import type { Interpreter } from "../interpreter/createInterpreters.ts";
import type { Drawn, Task } from "../turn/agent.ts";
import { readChart } from "../turn/readChart.ts";
import { type Artifact, MAX_ARTIFACTS } from "../wire/result.ts";
import type { FunctionTool } from "./createModelClient.ts";

// What a model can do with outputs beside reading them: draw one, and compute with several. No money is spent here.
export type Computing = {
  tools: readonly FunctionTool[];
  // What the model is told of its call; null if the name is none of these.
  take(name: string, args: Record<string, unknown>): Promise<string> | null;
  artifacts: readonly Artifact[];
  images: readonly Drawn[];
  // What Python has said, so that numbers that it has computed count as said.
  derived: readonly string[];
  // Why Python was wanted in vain, if it was.
  lacking(): string | null;
};

const PYTHON = "code_interpreter";
const CHART = "render_chart";
const MAX_SHOWN_LENGTH = 6_000;
const MAX_ROWS = 5_000;

const expected = { type: "array", items: { type: "string", enum: ["chart", "image"] } };

const pythonTool: FunctionTool = {
  name: PYTHON,
  description:
    "Runs Python on outputs of tools, each bound to its alias and in the dict inputs. It has no network and no files: it computes " +
    "with what tools have answered. Finish with set_result(value). render_chart(spec, data, title) and " +
    "save_figure(alt, title, fig) make artifacts, which expectedArtifacts must declare. safe_merge_timeseries(left, right), " +
    "align_timeseries(*series) and derive_change_series(rows, value) take lists of rows.",
  parameters: {
    type: "object",
    properties: {
      code: { type: "string" },
      inputs: {
        type: "object",
        additionalProperties: { type: "string" },
        description: "other names for aliases: name to alias",
      },
      postProcessingContract: {
        type: "object",
        properties: {
          operation: { type: "string", description: "what is computed" },
          reason: { type: "string", description: "why the tools' outputs do not say it themselves" },
          inputAliases: {
            type: "array",
            items: { type: "string" },
            description: "the aliases that it is computed from",
          },
          expectedArtifacts: { ...expected, description: "the kinds of artifacts that the code makes; empty if none" },
        },
        required: ["operation", "reason", "inputAliases", "expectedArtifacts"],
      },
    },
    required: ["code", "postProcessingContract"],
  },
};

const chartTool: FunctionTool = {
  name: CHART,
  description:
    "Draws the rows of one output, without Python. path leads to the rows in the output, like data.rows; leave it out if the " +
    "output is the list itself.",
  parameters: {
    type: "object",
    properties: {
      alias: { type: "string" },
      path: { type: "string" },
      title: { type: "string" },
      spec: {
        type: "object",
        properties: {
          type: {
            type: "string",
            enum: ["line", "bar", "area", "scatter", "composed", "histogram", "heatmap", "candlestick"],
          },
          xKey: { type: "string" },
          series: {
            type: "array",
            items: {
              type: "object",
              properties: { key: { type: "string" }, label: { type: "string" } },
              required: ["key"],
            },
          },
        },
        required: ["type", "xKey", "series"],
      },
    },
    required: ["alias", "spec"],
  },
};

export const PYTHON_RULE = `Compute with ${PYTHON} what the outputs do not say themselves, such as sums, changes and joins; never compute in your head.`;

export function createComputing({ caller, trace, say, imageUrlOf, ...task }: Task): Computing {
  const interpreter: Interpreter | null = task.interpreter;
  const artifacts: Artifact[] = [];
  const images: Drawn[] = [];
  const derived: string[] = [];
  let lacking: string | null = null;

  // Whatever is drawn beyond what an answer holds is not shown, and the model is told.
  function keep(drawn: readonly Artifact[]): string | null {
    if (artifacts.length + drawn.length > MAX_ARTIFACTS)
      return `an answer has at most ${MAX_ARTIFACTS} charts and images`;
    artifacts.push(...drawn);
    return null;
  }

  async function compute(own: Interpreter, args: Record<string, unknown>): Promise<string> {
    const startMs = performance.now();
    say("executing", { id: "", name: PYTHON });
    const outcome = await own.run(args, caller.outputs);
    say("tool-complete", { id: "", name: PYTHON });
    const durationMs = Math.round(performance.now() - startMs);
    if (outcome.kind === "rejected") {
      const { stage, message, mayRepair } = outcome;
      trace.computed({ name: PYTHON, args, result: { stage, message }, failed: true, artifactCount: 0, durationMs });
      if (stage === "busy") lacking = message;
      if (mayRepair) trace.retried(`${PYTHON} was rejected at ${stage}`);
      const advice = mayRepair ? "correct the call" : "go on without it";
      return JSON.stringify({ error: message, stage, advice });
    }
    const { stdout, hasResult, result, charts, images: pngs } = outcome;
    const drawn = pngs.map(({ png, alt, title, width, height }) => {
      const contentHash = hash("sha256", png);
      const artifact: Artifact = {
        kind: "image",
        url: imageUrlOf(contentHash),
        alt,
        ...(title !== undefined && { title }),
        contentHash,
        bytes: png.length,
        width,
        height,
      };
      return { artifact, image: { hash: contentHash, png } };
    });
    const refused = keep([...charts, ...drawn.map(({ artifact }) => artifact)]);
    if (refused === null) images.push(...drawn.map(({ image }) => image));
    const artifactCount = refused === null ? charts.length + pngs.length : 0;
    trace.computed({
      name: PYTHON,
      args,
      result: hasResult ? result : stdout,
      failed: false,
      artifactCount,
      durationMs,
    });
    const text = JSON.stringify(result ?? null);
    derived.push(stdout, text);
    return JSON.stringify({
      ...(hasResult &&
        (text.length <= MAX_SHOWN_LENGTH ? { result } : { beginningOfResult: text.slice(0, MAX_SHOWN_LENGTH) })),
      stdout: stdout.slice(0, MAX_SHOWN_LENGTH),
      artifacts: artifactCount,
      ...(refused !== null && { error: refused }),
    });
  }

  function draw({ alias, path = "", spec, title }: Record<string, unknown>): string {
    const output = caller.outputs.find((one) => one.alias === alias);
    if (output === undefined) {
      return JSON.stringify({
        error: `there is no such alias; there are ${caller.outputs.map((one) => one.alias).join(", ")}`,
      });
    }
    const rows = rowsAt(output.value, String(path));
    if (rows === null)
      return JSON.stringify({ error: `there is no list of rows at ${String(path) || "the output's root"}` });
    const chart = readChart({ kind: "chart", spec, data: rows, ...(title !== undefined && { title }) });
    if (typeof chart === "string") return JSON.stringify({ error: chart });
    const refused = keep([chart]);
    trace.step("tool-call", CHART, refused === null ? "success" : "failure");
    return JSON.stringify(refused === null ? { drawn: rows.length } : { error: refused });
  }

  return {
    tools: [chartTool, ...(interpreter === null ? [] : [pythonTool])],
    take(name, args) {
      if (name === CHART) return Promise.resolve(draw(args));
      return name === PYTHON && interpreter !== null ? compute(interpreter, args) : null;
    },
    artifacts,
    images,
    derived,
    lacking: () => lacking,
  };
}

// The rows at a place of an output as far as they are drawn, flat: what is neither a number nor a text is written as JSON.
function rowsAt(value: unknown, path: string): Record<string, string | number | null>[] | null {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== "");
  const found = steps.reduce<unknown>(
    (at, step) => (typeof at === "object" && at !== null && Object.hasOwn(at, step) ? (at as never)[step] : undefined),
    value,
  );
  if (!Array.isArray(found) || !found.every((row) => typeof row === "object" && row !== null)) return null;
  return found
    .slice(0, MAX_ROWS)
    .map((row) =>
      Object.fromEntries(
        Object.entries(row as object).map(([name, cell]) => [
          name,
          cell === null || typeof cell === "number" || typeof cell === "string" ? cell : (JSON.stringify(cell) ?? null),
        ]),
      ),
    );
}
