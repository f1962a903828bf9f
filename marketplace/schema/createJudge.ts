import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { LRUCache } from "lru-cache";
import type { Hex } from "viem";
import type { JsonSchema } from "../mcp/createMcpClient.ts";
import { createMeter, meter, WorkTooLarge } from "./meter.ts";
import { relax } from "./relax.ts";

// `unknown`: the schema is one that cannot be judged by, which convicts nobody.
export type Verdict = { kind: "valid" } | { kind: "invalid"; problem: string } | { kind: "unknown"; reason: string };

export type Judge = (schema: JsonSchema, schemaHash: Hex, value: unknown) => Verdict;

type Compiled = { validate: ValidateFunction; fill(): void } | { reason: string };

const MAX_COMPILED = 5_000;
const MAX_PROBLEM_LENGTH = 300;

// Says whether a value is what a schema promises. A schema is compiled once, however often it is asked for.
export function createJudge(): Judge {
  const known = new LRUCache<Hex, Compiled>({ max: MAX_COMPILED });
  return (schema, schemaHash, value) => {
    let compiled = known.get(schemaHash);
    if (compiled === undefined) {
      compiled = compile(schema);
      known.set(schemaHash, compiled);
    }
    if ("reason" in compiled) return { kind: "unknown", reason: compiled.reason };
    const { validate, fill } = compiled;
    fill();
    try {
      if (validate(value)) return { kind: "valid" };
    } catch (error) {
      if (error instanceof WorkTooLarge) return { kind: "unknown", reason: error.message };
      throw error;
    }
    const [error] = validate.errors ?? [];
    const problem = `${error?.instancePath || "the result"} ${error?.message ?? "is wrong"}`;
    return { kind: "invalid", problem: problem.slice(0, MAX_PROBLEM_LENGTH) };
  };
}

// With a compiler of its own, because Ajv keeps everything that it has ever compiled.
function compile(schema: JsonSchema): Compiled {
  try {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, addUsedSchema: false });
    const { keywords, fill } = createMeter();
    for (const keyword of keywords) ajv.addKeyword(keyword);
    return { validate: ajv.compile(meter(relax(schema).schema) as JsonSchema | boolean), fill };
  } catch (error) {
    return { reason: error instanceof Error ? error.message.slice(0, MAX_PROBLEM_LENGTH) : "it cannot be compiled" };
  }
}
