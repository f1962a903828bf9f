import { type Hex, keccak256 } from "viem";
import { describe, expect, it } from "vitest";
import type { Answer, Endpoints } from "./endpoints.ts";
import { JsonRpcError } from "./jsonRpc.ts";
import { sendRaw } from "./sendRaw.ts";

const RAW: Hex = "0x02f0";

const accepts: Answer = { kind: "result", endpoint: "a", result: keccak256(RAW) };
// The code means nothing: nodes send any of them with any message.
const says = (message: string, code = -32000): Answer => ({
  kind: "error",
  endpoint: "a",
  error: new JsonRpcError({ code, message }),
});
const fails = (mayHaveArrived: boolean): Answer => ({
  kind: "failure",
  endpoint: "a",
  reason: "did not answer within 5 ms",
  mayHaveArrived,
});

function outcomeOf(answers: readonly (Answer | Promise<Answer>)[]) {
  const endpoints: Pick<Endpoints, "askAll"> = { askAll: () => answers.map(async (answer) => answer) };
  return sendRaw(endpoints as Endpoints, RAW);
}

describe("the outcome of a send", () => {
  it.each<[claim: string, answers: Answer[], kind: string]>([
    [
      "accepted if one endpoint accepts it, whatever the others say",
      [says("nonce too low"), fails(true), accepts],
      "accepted",
    ],
    ["already known if one endpoint has it", [says("nonce too high"), says("already known")], "already_known"],
    ["unknown if one endpoint may have it and the others say no", [says("nonce too low"), fails(true)], "unknown"],
    ["unknown if one endpoint says what nobody understands", [says("nonce too low"), says("hm")], "unknown"],
    [
      "what the others say if one endpoint was never reached",
      [fails(false), says("insufficient funds")],
      "insufficient_funds",
    ],
    ["unknown if no endpoint was reached", [fails(false), fails(false)], "unknown"],
    ["unknown if there is no endpoint", [], "unknown"],
    [
      "a spent nonce rather than the gap that a lagging endpoint sees",
      [says("nonce too high"), says("nonce too low")],
      "nonce_too_low",
    ],
    ["read from the words, whatever the code", [says("nonce too low", -32603)], "nonce_too_low"],
    ["unknown if the node answers with another hash", [{ kind: "result", endpoint: "a", result: "0x00" }], "unknown"],
  ])("is %s", async (_, answers, kind) => {
    expect((await outcomeOf(answers)).kind).toBe(kind);
    expect((await outcomeOf(answers.toReversed())).kind).toBe(kind);
  });

  it("does not wait for a hanging endpoint once another has the bytes", async () => {
    const never = new Promise<Answer>(() => {});
    expect(await outcomeOf([never, accepts])).toEqual({ kind: "accepted" });
  });
});
