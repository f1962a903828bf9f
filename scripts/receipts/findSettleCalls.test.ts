import { bytesToHex, type Hex } from "viem";
import { describe, expect, it } from "vitest";
import { ContextRouter__factory } from "../../typechain-types/index.ts";
import type { Session } from "../command/session.ts";
import { findSettleCalls } from "./findSettleCalls.ts";

const hash = (digit: number | string): Hex => `0x${String(digit).padStart(64, "0")}`;

describe("the calldata of a batch", () => {
  const router = "0x00000000000000000000000000000000000000AA";
  const batchId = hash(7);
  const call = ContextRouter__factory.createInterface().encodeFunctionData("settle", [
    hash(0),
    batchId,
    [],
    "0x12",
  ]) as Hex;
  const decoy = call.replace(batchId.slice(2), hash(8).slice(2)) as Hex;

  async function found(transaction: { to: string; data: string }, trace: unknown): Promise<string[]> {
    const provider = {
      getTransaction: async () => transaction,
      send: async () => (trace === "none" ? Promise.reject(new Error("method not found")) : trace),
    };
    const calls: string[] = [];
    for await (const one of findSettleCalls({ provider } as unknown as Session, { hash: hash(9), router, batchId }))
      calls.push(one);
    return calls;
  }

  it("is the transaction's own, or is among what a contract was given", async () => {
    expect(await found({ to: router, data: call }, "none")).toEqual([call]);
    const length = bytesToHex(Uint8Array.of((call.length - 2) / 2), { size: 1 })
      .slice(2)
      .padStart(64, "0");
    expect(await found({ to: "0xBB", data: `0xabcdef01${length}${call.slice(2)}00` }, "none")).toEqual([call]);
    expect(await found({ to: "0xBB", data: `0xabcdef01${hash(1).slice(2)}${decoy.slice(2)}` }, "none")).toEqual([]);
  });

  it("is in the trace of a transaction that does not have it", async () => {
    const trace = {
      to: "0xBB",
      input: "0x",
      calls: [{ to: router.toLowerCase(), input: decoy }, { calls: [{ to: router, input: call }] }],
    };
    expect(await found({ to: "0xBB", data: "0x1234" }, trace)).toEqual([call]);
    expect(await found({ to: "0xBB", data: "0x1234" }, "none")).toEqual([]);
  });
});
