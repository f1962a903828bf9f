import type { HardhatEthersProvider } from "@nomicfoundation/hardhat-ethers/types";
import { toQuantity } from "ethers";
import { CommandError } from "./CommandError.ts";
import { explainRevert } from "./explainRevert.ts";

export type Call = { title: string; to: string; data: string };

type SimulatedCall = {
  status: string;
  gasUsed: string;
  returnData: string;
  error?: { message?: string; data?: string };
};

const METHOD_NOT_FOUND = -32601;

// Runs the calls one after the other on a copy of the chain's newest state, without sending anything, and returns the
// gas of each. A later call sees what the earlier ones did, for example an approval.
export async function simulate(
  provider: HardhatEthersProvider,
  from: string,
  calls: readonly Call[],
): Promise<bigint[]> {
  const latest = await provider.getBlock("latest");
  if (!latest) throw new CommandError("The node has no blocks yet: wait until it has caught up.");
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
  return results.map((result, index) => {
    if (BigInt(result.status) === 1n) return BigInt(result.gasUsed);
    const data = result.error?.data ?? result.returnData;
    throw new CommandError(`${calls[index]?.title ?? "A call"} would fail: ${explainRevert(data)} Nothing was sent.`);
  });
}

// For a node that can only try one call at a time. The later calls are tried when their turn comes.
async function estimateFirst(provider: HardhatEthersProvider, from: string, calls: readonly Call[]): Promise<bigint[]> {
  const [first] = calls;
  if (!first) return [];
  try {
    return [await provider.estimateGas({ from, to: first.to, data: first.data })];
  } catch (error) {
    const data = (error as { data?: unknown }).data;
    if (typeof data !== "string") throw error;
    throw new CommandError(`${first.title} would fail: ${explainRevert(data)} Nothing was sent.`);
  }
}

const isMethodNotFound = (error: unknown) =>
  error instanceof Error && "code" in error && error.code === METHOD_NOT_FOUND;
