import { setTimeout as pause } from "node:timers/promises";
import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import type { Ask } from "../../client/createClient.ts";
import { post } from "../../world/hosts/transact.ts";
import { tell } from "../report.ts";
import type { Cast } from "./cast.ts";

type Batch = {
  batchId: string;
  state: string;
  rows: number;
  charges: number;
  txHash: string | null;
  outcome: {
    chargedUsd: string;
    failed: { chargedTo: string; amountUsd: string; reason: string }[];
    refused: { chargedTo: string; toolId: string; amountUsd: string }[];
  } | null;
};

const POLL_MS = 1_000;
const BATCHES = 20;
const MAX_REMEMBERED = 1_000;

// Tells of every batch that became final and of every payout, as they happen.
export async function follow(options: { ask: Ask; cast: Cast; chainUrl: string; signal: AbortSignal }): Promise<void> {
  const { ask, cast, chainUrl, signal } = options;
  const told = new Set((await batches(ask)).filter(isFinal).map(({ batchId }) => batchId));
  let fromBlock = (await cast.router.runner?.provider?.getBlockNumber()) ?? 0;
  while (!signal.aborted) {
    try {
      for (const batch of (await batches(ask)).filter(isFinal).reverse()) {
        if (told.has(batch.batchId)) continue;
        told.add(batch.batchId);
        tell("batch settled", await describe(batch, cast, chainUrl));
      }
      for (const oldest of told) {
        if (told.size <= MAX_REMEMBERED) break;
        told.delete(oldest);
      }
      fromBlock = await tellPayouts(cast, fromBlock);
      await pause(POLL_MS, undefined, { signal });
    } catch {
      // The daemon or the chain may be on its way out or on its way back; whoever started them says so.
      await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

const isFinal = ({ state }: Batch) => state === "final";

async function batches(ask: Ask): Promise<Batch[]> {
  return (await ask("GET", `/v1/batches?limit=${BATCHES}`)).body.batches as Batch[];
}

async function describe({ charges, rows, txHash, outcome }: Batch, { nameOf }: Cast, url: string): Promise<string> {
  const [receipt] = (await post(url, [["eth_getTransactionReceipt", [txHash]]])) as [{ gasUsed: string } | null];
  const gas =
    receipt === null ? "" : `, ${Math.round(Number(receipt.gasUsed) / charges).toLocaleString("en")} gas per call`;
  const charged = `${count(charges, "call")} of ${count(rows, "payer")}, ${outcome?.chargedUsd} USDC${gas}, ${txHash?.slice(0, 10)}…`;
  const failed = (outcome?.failed ?? []).map(
    ({ chargedTo, amountUsd, reason }) => `; ${nameOf(chargedTo)} could not pay ${amountUsd} (${reason})`,
  );
  const refused = (outcome?.refused ?? []).map(
    ({ toolId, amountUsd }) => `; ${amountUsd} for ${nameOf(toolId)} refused, its stake is too low`,
  );
  return [charged, ...failed, ...refused].join("");
}

const count = (number: number, thing: string) => `${number} ${thing}${number === 1 ? "" : "s"}`;

async function tellPayouts({ router, nameOf }: Cast, fromBlock: number): Promise<number> {
  const head = (await router.runner?.provider?.getBlockNumber()) ?? fromBlock;
  if (head <= fromBlock) return fromBlock;
  const claims = await router.queryFilter(router.filters.Claimed(), fromBlock + 1, head);
  if (claims.length > 0) {
    const paid = claims.map(({ args }) => `${nameOf(args.account)} ${formatUsd(microUsdc(args.amount))}`);
    tell("paid out", `${paid.join(", ")} USDC`);
  }
  return head;
}
