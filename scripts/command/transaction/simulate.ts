import type { HardhatEthersProvider } from "@nomicfoundation/hardhat-ethers/types";
import { toQuantity } from "ethers";
import { CommandError } from "../CommandError.ts";
import { explainRevert } from "./explainRevert.ts";

export type Call = { title: string; to: string; data: string };

type SimulatedCall = {
  status: string;
  gasUsed: string;
  returnData: string;
  error?: { message?: string; data?: string };
};

const METHOD_NOT_FOUND = -32601;

// What the calls would do if they were sent now: succeed with this much gas each, or fail at one of them.
export type Simulation = { ok: true; gas: bigint[] } | { ok: false; title: string; reason: string };

// The gas of calls that would succeed. What would fail is not sent.
export function requireSuccess(simulation: Simulation): bigint[] {
  if (simulation.ok) return simulation.gas;
  throw new CommandError(`${simulation.title} would fail: ${simulation.reason}`);
}

// Runs the calls one after the other on a copy of the chain's newest state. A later call sees what the earlier ones did,
// for example an approval.
export async function simulate(
  provider: HardhatEthersProvider,
  from: string,
  calls: readonly Call[],
): Promise<Simulation> {
  const latest = await provider.getBlock("latest");
  if (!latest) throw new CommandError("the node has no blocks yet: wait until it has caught up");
  const block = {
    // Said outright, because not every node derives them from the block that is built on.
    blockOverrides: { number: toQuantity(latest.number + 1), time: toQuantity(latest.timestamp + 1) },
    calls: calls.map(({ to, data }) => ({ from, to, data })),
  };
  let results: SimulatedCall[];
  try {
    const [simulated] = await provider.send("eth_simulateV1", [{ blockStateCalls: [block] }, "latest"]);
    results = simulated.calls;
  } catch (error) {
    if (!isMethodNotFound(error)) throw error;
    return estimateFirst(provider, from, calls);
  }
  const failed = results.findIndex(({ status }) => BigInt(status) !== 1n);
  const result = results[failed];
  if (!result) return { ok: true, gas: results.map(({ gasUsed }) => BigInt(gasUsed)) };
  return {
    ok: false,
    title: calls[failed]?.title ?? "a call",
    reason: explainRevert(result.error?.data ?? result.returnData),
  };
}

// For a node that can only try one call at a time. The later calls are tried when their turn comes.
async function estimateFirst(
  provider: HardhatEthersProvider,
  from: string,
  calls: readonly Call[],
): Promise<Simulation> {
  const [first] = calls;
  if (!first) return { ok: true, gas: [] };
  try {
    return { ok: true, gas: [await provider.estimateGas({ from, to: first.to, data: first.data })] };
  } catch (error) {
    const data = (error as { data?: unknown }).data;
    if (typeof data !== "string") throw error;
    return { ok: false, title: first.title, reason: explainRevert(data) };
  }
}

const isMethodNotFound = (error: unknown) =>
  error instanceof Error && "code" in error && error.code === METHOD_NOT_FOUND;
