import { type Address, isAddressEqual, recoverTypedDataAddress } from "viem";
import { z } from "zod";
import { ANSWER_META, type Court, hashJson, hashRequest, type SignedAnswer, typedAnswer } from "./answer.ts";
import type { Given } from "./signAnswers.ts";

// `unsigned` is no offence: the answer then goes the way of the adjudicator. `forged` names the first field that is not what
// was asked and received.
export type Verification =
  | { kind: "signed"; answer: SignedAnswer; signer: Address }
  | { kind: "unsigned" }
  | { kind: "forged"; field: string };

export type Expected = Given & {
  toolId: string;
  court: Court;
  // The answer key that is registered for the tool; any key's signature is taken if it is not known.
  signer?: Address;
  // When the answer came in; now, unless it was kept since then.
  nowMs?: () => number;
};

// The court hears of an answer for 3 days from the time that it names, and not before. With a time of long ago it could convict nobody
// any more, and with one to come only when the tool has long revoked its key.
const MAX_OFF_S = 300;

// Every signature has a twin on the other half of the curve. The court takes the lower one, and so does this.
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

const hash = z.string().regex(/^0x[0-9a-f]{64}$/i);
const schema = z.object({
  toolId: z.string(),
  method: z.string(),
  chargeId: hash,
  requestHash: hash,
  answerHash: hash,
  schemaHash: hash,
  answeredAt: z.number().int().nonnegative(),
  signature: z
    .string()
    .regex(/^0x[0-9a-f]{128}(1b|1c)$/i)
    .refine((signature) => BigInt(`0x${signature.slice(66, 130)}`) <= HALF_ORDER),
});

// Checks what an MCP result says about itself against what the caller knows.
export async function verifyAnswer(meta: unknown, expected: Expected): Promise<Verification> {
  const carried =
    typeof meta === "object" && meta !== null ? (meta as Record<string, unknown>)[ANSWER_META] : undefined;
  if (carried === undefined) return { kind: "unsigned" };
  const parsed = schema.safeParse(carried);
  if (!parsed.success) return { kind: "forged", field: String(parsed.error.issues[0]?.path[0] ?? "answer") };
  const answer = parsed.data as SignedAnswer;
  const facts = {
    toolId: expected.toolId,
    method: expected.method,
    chargeId: expected.chargeId,
    requestHash: hashRequest(expected.method, expected.args),
    answerHash: hashJson(expected.content),
    schemaHash: hashJson(expected.schema),
  };
  for (const [field, value] of Object.entries(facts)) {
    const said = answer[field as keyof typeof facts];
    // Names are compared as they are; hashes and UUIDs mean the same in both cases.
    const same = field === "method" ? said === value : said.toLowerCase() === value.toLowerCase();
    if (!same) return { kind: "forged", field };
  }
  const nowMs = expected.nowMs?.() ?? Date.now();
  if (Math.abs(nowMs / 1_000 - answer.answeredAt) > MAX_OFF_S) return { kind: "forged", field: "answeredAt" };
  try {
    const signer = await recoverTypedDataAddress({
      ...typedAnswer(answer, expected.court),
      signature: answer.signature,
    });
    if (expected.signer !== undefined && !isAddressEqual(signer, expected.signer)) {
      return { kind: "forged", field: "signature" };
    }
    return { kind: "signed", answer, signer };
  } catch {
    return { kind: "forged", field: "signature" };
  }
}
