import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { SettlementError } from "../../../settlement/domain/errors.ts";
import { type MicroUsdc, parseUsd } from "../../../settlement/domain/money.ts";

// A model that answers questions, at an endpoint that speaks the OpenAI wire.
export type Model = {
  // What callers name as agentModelId.
  id: string;
  // Up to and without /chat/completions.
  url: string;
  // What the endpoint calls it.
  model: string;
  key: string | null;
  // For a million tokens.
  inputPrice: MicroUsdc;
  outputPrice: MicroUsdc;
  // The most that it may cost in one turn.
  maxCost: MicroUsdc;
};

// The first one is used where the caller names none; the others stand in for it in their order.
export type Models = readonly Model[];

const usd = z.string('must be dollars as a text, like "0.60"').transform((text, context): MicroUsdc => {
  try {
    return parseUsd(text);
  } catch {
    context.addIssue({ code: "custom", message: 'must be dollars as a text, like "0.60"' });
    return z.NEVER;
  }
});

const schema = z
  .array(
    z.strictObject({
      id: z.string().regex(/^[\w.:-]{1,100}$/, "must have 1 to 100 letters, digits or . : _ -"),
      url: z
        .url({ protocol: /^https?$/, error: "must be an http or https URL" })
        .transform((url) => url.replace(/\/$/, "")),
      model: z.string().min(1, "must be the endpoint's name of the model"),
      // A file, from where this one is.
      keyFile: z.string().min(1).optional(),
      inputUsdPerMillion: usd,
      outputUsdPerMillion: usd,
      maxCostUsd: usd,
    }),
    "must be a list of models",
  )
  .refine((models) => new Set(models.map(({ id }) => id)).size === models.length, "names a model twice");

// Reads the catalogue of models, and the keys that it names.
export function readModels(path: string): Models {
  const fail = (why: string, cause?: unknown): never => {
    throw new SettlementError("invalid_config", `MARKETPLACE_MODELS is ${path}, and ${why}`, { cause });
  };
  const read = (file: string): string => {
    try {
      return readFileSync(file, "utf8");
    } catch (cause) {
      return fail(`${file} cannot be read`, cause);
    }
  };
  let parsed: unknown;
  try {
    parsed = JSON.parse(read(path));
  } catch (error) {
    if (error instanceof SettlementError) throw error;
    fail("it is not JSON", error);
  }
  const checked = schema.safeParse(parsed);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    return fail(`${issue?.path.join(".") || "it"} ${issue?.message}`);
  }
  return checked.data.map(({ keyFile, inputUsdPerMillion, outputUsdPerMillion, maxCostUsd, ...model }) => ({
    ...model,
    key: keyFile === undefined ? null : read(resolve(dirname(path), keyFile)).trim(),
    inputPrice: inputUsdPerMillion,
    outputPrice: outputUsdPerMillion,
    maxCost: maxCostUsd,
  }));
}
