import { type Address, encodeErrorResult } from "viem";
import { describe, expect, it } from "vitest";
import type { Endpoints } from "../rpc/endpoints.ts";
import { JsonRpcError } from "../rpc/jsonRpc.ts";
import { routerAbi } from "./abi.ts";
import { simulate } from "./simulate.ts";

const ROUTER: Address = "0x52908400098527886E0F7030069857D2E4169EE7";
const MAX_GAS = 2n ** 24n;

// What becomes of a simulation if the node says no in this way.
function simulationOf(error: { code: number; message: string; data?: unknown }) {
  const endpoints: Pick<Endpoints, "read"> = { read: () => Promise.reject(new JsonRpcError(error)) };
  return simulate(endpoints as Endpoints, { from: ROUTER, to: ROUTER, calldata: "0x" }, MAX_GAS);
}

describe("a node's no to a gas estimate", () => {
  it.each([
    ["geth", -32000, "gas required exceeds allowance (50000000)"],
    ["geth", -32000, "out of gas"],
    ["anvil", -32003, "Out of gas: gas required exceeds allowance: 1000000"],
    ["reth", -32000, "intrinsic gas too high: exceeds block gas limit"],
    ["reth", -32003, "transaction gas limit too high"],
  ])("of %s (%i: %s) means that the batch is too large", async (_, code, message) => {
    expect(await simulationOf({ code, message })).toEqual({ kind: "too_large", reason: message });
  });

  it("is read as the contract's words wherever the node puts them", async () => {
    const data = encodeErrorResult({ abi: routerAbi, errorName: "EnforcedPause" });
    const paused = { kind: "unavailable", reason: "the router is paused" };
    expect(await simulationOf({ code: 3, message: "execution reverted", data })).toEqual(paused);
    expect(await simulationOf({ code: -32015, message: "revert", data: `Reverted ${data}` })).toEqual(paused);
    expect(await simulationOf({ code: -32603, message: "Internal error", data: { data } })).toEqual(paused);
  });

  it("is a revert if the node keeps the words to itself", async () => {
    expect(await simulationOf({ code: -32000, message: "execution reverted" })).toMatchObject({ kind: "reverts" });
    expect(await simulationOf({ code: 3, message: "" })).toMatchObject({ kind: "reverts" });
  });

  it("is a revert with the data of an error that nobody knows, and with the text of a plain one", async () => {
    expect(await simulationOf({ code: 3, message: "", data: "0xdeadbeef" })).toEqual({
      kind: "reverts",
      reason: "unknown error 0xdeadbeef",
    });
    const abi = [{ type: "error", name: "Error", inputs: [{ name: "message", type: "string" }] }] as const;
    const data = encodeErrorResult({ abi, errorName: "Error", args: ["no reason"] });
    expect(await simulationOf({ code: 3, message: "", data })).toEqual({ kind: "reverts", reason: "Error(no reason)" });
  });

  it("says nothing about the batch if it is about something else", async () => {
    await expect(simulationOf({ code: -32000, message: "header not found" })).rejects.toThrow("header not found");
    await expect(simulationOf({ code: -32000, message: "insufficient funds" })).rejects.toThrow("insufficient funds");
  });
});
