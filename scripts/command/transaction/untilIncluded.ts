import { setTimeout as pause } from "node:timers/promises";
import type { HardhatEthersProvider } from "@nomicfoundation/hardhat-ethers/types";
import type { TransactionReceipt } from "ethers";

const LOOK_EVERY_MS = 500;
// One of the nodes behind an address may not have heard of it yet, or may be behind.
const FORGOTTEN_MS = 60_000;

type Reads = Pick<HardhatEthersProvider, "getTransactionReceipt" | "getTransaction">;

// Waits until a transaction is in a block, however long that takes. Null once the node has not known it for a minute: a reorg has
// taken it out, or the mempool has no room for it, and whoever waited on would wait permanently.
export async function untilIncluded(
  provider: Reads,
  hash: string,
  { lookEveryMs = LOOK_EVERY_MS, forgottenMs = FORGOTTEN_MS } = {},
): Promise<TransactionReceipt | null> {
  let knownAtMs = performance.now();
  for (;;) {
    const receipt = await provider.getTransactionReceipt(hash);
    if (receipt !== null) return receipt;
    if ((await provider.getTransaction(hash)) !== null) knownAtMs = performance.now();
    else if (performance.now() - knownAtMs >= forgottenMs) return null;
    await pause(lookEveryMs);
  }
}
