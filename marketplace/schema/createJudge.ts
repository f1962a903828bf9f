import { setImmediate } from "node:timers/promises";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { LRUCache } from "lru-cache";
import type { Hex } from "viem";
import type { JsonSchema } from "../mcp/createMcpClient.ts";
import { createMeter, meter, WorkTooLarge } from "./meter.ts";
import { relax } from "./relax.ts";

// `unknown`: the schema is one that cannot be judged by, which convicts nobody.
export type Verdict = { kind: "valid" } | { kind: "invalid"; problem: string } | { kind: "unknown"; reason: string };

export type Judge = (schema: JsonSchema, schemaHash: Hex, value: unknown) => Verdict;

export type PreparedJudge = Judge & {
  // Compiles what will be judged by, one after the other, and lets others be served in between. One at a time for everybody.
  prepare(schemas: readonly (readonly [JsonSchema, Hex])[]): Promise<void>;
};

type Compiled = { validate: ValidateFunction; fill(): void } | { reason: string };

const MAX_COMPILED = 5_000;
const MAX_PROBLEM_LENGTH = 300;

// Says whether a value is what a schema promises. A schema is compiled once, however often it is asked for.
export function createJudge(): PreparedJudge {
  const known = new LRUCache<Hex, Compiled>({ max: MAX_COMPILED });
  // Knows what a schema may look like; that is compiled too, and takes longer than most of what it then looks at.
  const dialect = new Ajv2020({ strict: false, logger: false });
  let preparing = Promise.resolve();

  function compiledOf(schema: JsonSchema, schemaHash: Hex): Compiled {
    let compiled = known.get(schemaHash);
    if (compiled === undefined) {
      compiled = compile(schema, dialect);
      known.set(schemaHash, compiled);
    }
    return compiled;
  }

  const judge: Judge = (schema, schemaHash, value) => {
    const compiled = compiledOf(schema, schemaHash);
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

  return Object.assign(judge, {
    prepare(schemas: readonly (readonly [JsonSchema, Hex])[]) {
      preparing = preparing.then(async () => {
        for (const [schema, schemaHash] of schemas) {
          if (known.has(schemaHash)) continue;
          compiledOf(schema, schemaHash);
          await setImmediate();
        }
      });
      return preparing;
    },
  });
}

// Lists that are long are gone through rather than written out, and nothing is made shorter afterwards: a schema is compiled
// more often than it is judged by, if its owner likes.
const QUICKLY = {
  code: { optimize: false },
  loopEnum: 8,
  loopRequired: 8,
  meta: false,
  validateSchema: false,
} as const;

// With a compiler of its own, because Ajv keeps everything that it has ever compiled.
function compile(given: JsonSchema, dialect: Ajv2020): Compiled {
  try {
    const { schema } = relax(given);
    if (dialect.validateSchema(schema) !== true)
      return { reason: reasonOf(`schema is invalid: ${dialect.errorsText()}`) };
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, addUsedSchema: false, ...QUICKLY });
    const { keywords, fill } = createMeter();
    for (const keyword of keywords) ajv.addKeyword(keyword);
    return { validate: ajv.compile(meter(schema) as JsonSchema | boolean), fill };
  } catch (error) {
    return { reason: reasonOf(error instanceof Error ? error.message : "it cannot be compiled") };
  }
}

const reasonOf = (text: string) => text.slice(0, MAX_PROBLEM_LENGTH);
