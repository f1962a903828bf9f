import { z } from "zod";
import type { Output } from "../turn/createCaller.ts";
import { readChart } from "../turn/readChart.ts";
import type { Chart } from "../wire/result.ts";
import { MAX_SIDE, readPng } from "./readPng.ts";

// What a model asks Python for.
const callSchema = z.object({
  code: z.string().min(1).max(50_000),
  // Names for outputs, beside their aliases.
  inputs: z.record(z.string(), z.string()).default({}),
  postProcessingContract: z.object({
    operation: z.string().min(1).max(500),
    reason: z.string().min(1).max(1_000),
    inputAliases: z.array(z.string()).max(100),
    expectedArtifacts: z.array(z.enum(["chart", "image"])).max(4),
  }),
});
export type InterpreterCall = z.infer<typeof callSchema>;

export type Image = { png: Buffer; alt: string; title?: string | undefined; width: number; height: number };
export type Computed = {
  kind: "computed";
  stdout: string;
  hasResult: boolean;
  result: unknown;
  charts: Chart[];
  images: Image[];
};
// Something the model can do better: `stage` is where it was found. Or nothing it can do anything about.
export type Rejected = { kind: "rejected"; stage: string; message: string; mayRepair: boolean };

const rejected = (stage: string, message: string, mayRepair = true): Rejected => ({
  kind: "rejected",
  stage,
  message,
  mayRepair,
});

export { rejected };

// In Python's memory they take several times as much.
const MAX_INPUT_LENGTH = 16 * 1024 * 1024;
const NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;
const TAKEN: ReadonlySet<string> = new Set([
  "inputs",
  "set_result",
  "render_chart",
  "save_figure",
  "align_timeseries",
  "safe_merge_timeseries",
  "derive_change_series",
]);

export type Prepared = { call: InterpreterCall; line: string; inputsBytes: number; inputAliasCount: number };

// Checks a call before Python is started for it, and writes it down for Python: every output by its alias, and once more by the
// name that the call gives it.
export function prepareCall(args: unknown, outputs: readonly Output[]): Prepared | Rejected {
  const read = callSchema.safeParse(args);
  if (!read.success) {
    const [issue] = read.error.issues;
    return rejected("contract", `${issue?.path.join(".") || "the call"}: ${issue?.message ?? "is not one"}`);
  }
  const call = read.data;
  if (outputs.length === 0)
    return rejected("inputs", "no tool has answered yet; call tools first, Python computes with their outputs");
  const texts = new Map(outputs.map(({ alias, text }) => [alias, text]));
  const aliases = [...Object.values(call.inputs), ...call.postProcessingContract.inputAliases];
  const unknown = aliases.find((alias) => !texts.has(alias));
  if (unknown !== undefined) {
    return rejected("inputs", `${unknown.slice(0, 100)} is no alias; there are ${[...texts.keys()].join(", ")}`);
  }
  const bad = Object.keys(call.inputs).find((name) => !NAME.test(name) || TAKEN.has(name));
  if (bad !== undefined) return rejected("inputs", `${bad.slice(0, 100)} cannot be the name of an input`);
  const all = [...texts.keys()];
  const lengthOf = (names: readonly string[]) => names.reduce((sum, alias) => sum + (texts.get(alias)?.length ?? 0), 0);
  // Where all of them are too much, those that the call names.
  const bound = lengthOf(all) <= MAX_INPUT_LENGTH ? all : [...new Set(aliases)];
  if (bound.length === 0 || lengthOf(bound) > MAX_INPUT_LENGTH) {
    return rejected(
      "inputs",
      `the inputs have more than ${MAX_INPUT_LENGTH} characters; name fewer of them in inputAliases`,
    );
  }
  const named = [...bound.map((alias) => [alias, alias] as const), ...Object.entries(call.inputs)];
  const inputs = named.map(([name, alias]) => `${JSON.stringify(name)}:${texts.get(alias) ?? "null"}`).join(",");
  return {
    call,
    line: `{"code":${JSON.stringify(call.code)},"inputs":{${inputs}}}`,
    inputsBytes: Buffer.byteLength(inputs),
    inputAliasCount: bound.length,
  };
}

// Python keeps to less by itself. These hold for whatever else writes in its place. Characters of the result as JSON, which the two
// sides do not write alike, and bytes of one image.
const MAX_RESULT_LENGTH = 2 * 1024 * 1024;
const MAX_IMAGE_BYTES = 2 * 1024 * 1024;
const MAX_BASE64_LENGTH = Math.ceil(MAX_IMAGE_BYTES / 3) * 4;

const answerSchema = z.object({
  ok: z.boolean(),
  message: z.string().max(4_000).optional(),
  stdout: z.string().max(100_000),
  hasResult: z.boolean(),
  result: z.unknown(),
  charts: z.array(z.unknown()).max(4),
  images: z
    .array(z.object({ alt: z.string().max(1_000), title: z.string().max(1_000).optional(), png: z.string() }))
    .max(4)
    .optional(),
});

// Reads what Python has said, which is anything at all, and holds it against what was declared.
export function readAnswer(line: string, { postProcessingContract }: InterpreterCall): Computed | Rejected {
  let said: unknown;
  try {
    said = JSON.parse(line);
  } catch {
    return rejected("answer", "what came back is no JSON");
  }
  const read = answerSchema.safeParse(said);
  if (!read.success) return rejected("answer", "what came back has another form than it should");
  const { ok, message = "it failed", stdout, hasResult, result, images: pngs = [] } = read.data;
  if (!ok) return rejected("python", stdout === "" ? message : `${message}\nprinted: ${stdout.slice(-1_000)}`);
  if (JSON.stringify(result ?? null).length > MAX_RESULT_LENGTH) {
    return rejected("artifacts", `the result has more than ${MAX_RESULT_LENGTH} characters; make it smaller`);
  }
  const charts: Chart[] = [];
  for (const one of read.data.charts) {
    const chart = readChart({ kind: "chart", ...(one as object) });
    if (typeof chart === "string") return rejected("artifacts", chart);
    charts.push(chart);
  }
  const images: Image[] = [];
  for (const { png: text, ...rest } of pngs) {
    if (text.length > MAX_BASE64_LENGTH) {
      return rejected("artifacts", `an image has more than ${MAX_IMAGE_BYTES} bytes; make it smaller`);
    }
    const png = Buffer.from(text, "base64");
    const size = readPng(png);
    if (size === null) return rejected("artifacts", `the image is no PNG of up to ${MAX_SIDE} by ${MAX_SIDE} pixels`);
    images.push({ ...rest, ...size, png });
  }
  const has = { chart: charts.length > 0, image: images.length > 0 };
  for (const kind of ["chart", "image"] as const) {
    const isExpected = postProcessingContract.expectedArtifacts.includes(kind);
    if (isExpected && !has[kind]) return rejected("artifacts", `expectedArtifacts has ${kind}, and none was made`);
    if (!isExpected && has[kind])
      return rejected("artifacts", `a ${kind} was made that expectedArtifacts does not have`);
  }
  return { kind: "computed", stdout, hasResult, result: result ?? null, charts, images };
}
