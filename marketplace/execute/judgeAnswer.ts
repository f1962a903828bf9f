import type { Hex } from "viem";
import { NO_HASH } from "../../settlement/domain/charges/charge.ts";
import type { JsonSchema } from "../mcp/createMcpClient.ts";
import type { Answered } from "../mcp/outcome.ts";
import { isPaid, type Listing, type Method } from "../registry/listing.ts";
import type { Judge } from "../schema/createJudge.ts";
import { hashJson } from "../schema/hashJson.ts";

export type Judged =
  | { kind: "delivered" }
  // Delivered, but not charged.
  | { kind: "mismatched"; problem: string }
  | { kind: "refused"; problem: string };

// An answer that is not what it promises is handed over, because the buyer may be able to use it, and costs nothing. From a
// paid tool one that is not even an object is taken for a failure.
export function judgeAnswer(judge: Judge, { price, methods }: Listing, method: Method, answered: Answered): Judged {
  const { outputSchema } = method;
  if (outputSchema === undefined) return { kind: "delivered" };
  const value = contentOf(answered);
  const verdict = judge(outputSchema, schemaHashOf(method), value);
  if (verdict.kind !== "invalid") return { kind: "delivered" };
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return { kind: !isObject && isPaid(price, methods) ? "refused" : "mismatched", problem: verdict.problem };
}

// What is judged, hashed and kept: what the tool sent as structured, or else what was made of its texts.
export const contentOf = ({ raw, result }: Answered) => raw.structuredContent ?? result;

// Whether a method takes the arguments that it was called with. What cannot be decided it takes.
export const takes = (judge: Judge, { inputSchema }: Method, args: unknown): boolean =>
  judge(inputSchema, hashOf(inputSchema), args).kind !== "invalid";

export const schemaHashOf = ({ outputSchema }: Method): Hex =>
  outputSchema === undefined ? NO_HASH : hashOf(outputSchema);

const hashes = new WeakMap<JsonSchema, Hex>();

function hashOf(schema: JsonSchema): Hex {
  const known = hashes.get(schema) ?? hashJson(schema);
  hashes.set(schema, known);
  return known;
}
