import { type Address, type Hex, keccak256, stringToBytes } from "viem";
import { toolIdFromUuid } from "../../../settlement/domain/toolId.ts";
import { canonicalJson } from "./canonicalJson.ts";

// What a tool signs: that it gave this answer to this request of this charge, and promised this schema for it. The schema
// court reads exactly this; nothing here may change without it.
export const ANSWER_TYPES = {
  Answer: [
    { name: "toolId", type: "bytes16" },
    { name: "method", type: "string" },
    { name: "chargeId", type: "bytes32" },
    { name: "requestHash", type: "bytes32" },
    { name: "answerHash", type: "bytes32" },
    { name: "schemaHash", type: "bytes32" },
    { name: "answeredAt", type: "uint64" },
  ],
} as const;

// A signature is good for one court on one chain.
export type Court = { chainId: number; address: Address };

export const answerDomain = ({ chainId, address }: Court) => ({
  name: "SchemaCourt",
  version: "1",
  chainId,
  verifyingContract: address,
});

export type Answer = {
  // The tool's UUID.
  toolId: string;
  method: string;
  chargeId: Hex;
  // Of the canonical JSON of `{ method, arguments }`.
  requestHash: Hex;
  // Of the canonical JSON of `structuredContent`, which are the bytes that the court parses.
  answerHash: Hex;
  // Of the canonical JSON of the method's `outputSchema`, as it is listed and pinned.
  schemaHash: Hex;
  // In seconds.
  answeredAt: number;
};

export type SignedAnswer = Answer & { signature: Hex };

// Where a call names its charge, and where its result carries the signature.
export const CHARGE_META = "ctxprotocol.com/charge";
export const ANSWER_META = "ctxprotocol.com/answer";

export const hashJson = (value: unknown): Hex => keccak256(stringToBytes(canonicalJson(value)));

export const hashRequest = (method: string, args: unknown): Hex => hashJson({ method, arguments: args ?? {} });

export const typedAnswer = (answer: Answer, court: Court) => ({
  domain: answerDomain(court),
  types: ANSWER_TYPES,
  primaryType: "Answer" as const,
  message: {
    toolId: toolIdFromUuid(answer.toolId),
    method: answer.method,
    chargeId: answer.chargeId,
    requestHash: answer.requestHash,
    answerHash: answer.answerHash,
    schemaHash: answer.schemaHash,
    answeredAt: BigInt(answer.answeredAt),
  },
});
