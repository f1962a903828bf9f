import { type Hex, keccak256 } from "viem";
import type { SendOutcome } from "../chain.ts";
import { classifySend } from "./classifySend.ts";
import type { Answer, Endpoints } from "./endpoints.ts";

// What counts if endpoints disagree, strongest first. One that has the bytes settles it. After that, one that may have
// them keeps every no from counting. A spent nonce is a fact that a replica can miss but not invent, and a gap is what a
// replica sees that lags behind.
const precedence: readonly SendOutcome["kind"][] = [
  "accepted",
  "already_known",
  "unknown",
  "nonce_too_low",
  "replacement_underpriced",
  "fee_too_low",
  "too_large",
  "insufficient_funds",
  "nonce_too_high",
];

// Broadcasts signed bytes through every healthy endpoint, and waits for all of them only as long as none has the bytes.
export async function sendRaw(endpoints: Endpoints, raw: Hex): Promise<SendOutcome> {
  const txHash = keccak256(raw);
  const answers = endpoints.askAll("eth_sendRawTransaction", [raw]);
  try {
    return await Promise.any(answers.map(async (answer) => hasTheBytes(outcomeOf(await answer, txHash))));
  } catch {
    return strongest(await Promise.all(answers), txHash);
  }
}

function hasTheBytes(outcome: SendOutcome): SendOutcome {
  if (outcome.kind === "accepted" || outcome.kind === "already_known") return outcome;
  throw new Error(outcome.kind);
}

function strongest(answers: readonly Answer[], txHash: Hex): SendOutcome {
  // An endpoint that the bytes never reached says nothing about them.
  const telling = answers.filter((answer) => answer.kind !== "failure" || answer.mayHaveArrived);
  if (telling.length === 0) {
    const reasons = answers.map((answer) => (answer.kind === "failure" ? `${answer.endpoint} ${answer.reason}` : ""));
    return { kind: "unknown", reason: `no endpoint took it: ${reasons.join("; ")}` };
  }
  return telling
    .map((answer) => outcomeOf(answer, txHash))
    .reduce((best, next) => (precedence.indexOf(next.kind) < precedence.indexOf(best.kind) ? next : best));
}

function outcomeOf(answer: Answer, txHash: Hex): SendOutcome {
  switch (answer.kind) {
    case "result":
      if (answer.result === txHash) return { kind: "accepted" };
      return { kind: "unknown", reason: `${answer.endpoint} answered with another hash than ${txHash}` };
    case "error":
      return classifySend(answer.error.message);
    case "failure":
      return { kind: "unknown", reason: `${answer.endpoint} ${answer.reason}` };
  }
}
