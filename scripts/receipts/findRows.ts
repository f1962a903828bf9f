import type { Log, TransactionReceipt } from "ethers";
import { type Address, type Hex, parseEventLogs, type Log as ViemLog } from "viem";
import { type Exception, exceptionsOf } from "../../settlement/chain/court/exceptionsOf.ts";
import { routerAbi } from "../../settlement/chain/router/abi.ts";
import type { Deployment } from "../command/openDeployment.ts";
import { readLogs } from "../command/readLogs.ts";
import type { Session } from "../command/session.ts";
import { findSettleCalls } from "./findSettleCalls.ts";

export type Line = { toolId: string; amount: bigint };

// How a batch was settled, as the court wants it shown.
export type Settlement = { operator: string; call: string; exceptions: Exception[] };

// What a payer paid in a batch, by the chain alone.
export type PaidRow = {
  batchId: string;
  operator: string;
  transaction: string;
  block: number;
  settledAt: bigint;
  settlement: Settlement;
  lines: Line[];
  charged: bigint;
};

// A batch that took something from the payer, or may have, and whose calldata cannot be had from this node. Its root is null if
// not even the transaction's logs can be had.
export type HiddenBatch = { batchId: string | null; transaction: string };

export type Found = { rows: PaidRow[]; hidden: HiddenBatch[] };

type Known = Map<string, Found>;

// Reads what `payer` paid in every batch since a block. A transaction is read once: `known` keeps what was read, by the block
// that it was in, so that a reorg is read again.
export async function findRows(
  session: Session,
  deployment: Deployment,
  { payer, fromBlock, known }: { payer: string; fromBlock: number; known: Known },
): Promise<Found> {
  const found: Found = { rows: [], hidden: [] };
  for (const { transactionHash, blockHash } of await findTransactions(session, deployment, payer, fromBlock)) {
    const key = `${blockHash} ${transactionHash}`;
    const read = known.get(key) ?? (await readTransaction(session, deployment, payer, transactionHash));
    // What was hidden may be found by a node that is asked again.
    if (read.hidden.length === 0) known.set(key, read);
    found.rows.push(...read.rows);
    found.hidden.push(...read.hidden);
  }
  return found;
}

// What leaves a wallet says so with the token's own event. What is drawn from a prepaid balance says nothing, so whoever ever
// had one looks at all batches.
async function findTransactions(
  { provider }: Session,
  { router, usdc, addresses, record }: Deployment,
  payer: string,
  fromBlock: number,
): Promise<Log[]> {
  const deposits = await readLogs(
    provider,
    addresses.router,
    router.interface.encodeFilterTopics("Deposited", [payer]),
    record.contracts.router.block,
  );
  const logs =
    deposits.length > 0
      ? await readLogs(provider, addresses.router, router.interface.encodeFilterTopics("BatchSettled", []), fromBlock)
      : await readLogs(
          provider,
          record.usdc,
          usdc.interface.encodeFilterTopics("Transfer", [payer, addresses.router]),
          fromBlock,
        );
  return [...new Map(logs.map((log) => [log.transactionHash, log])).values()];
}

async function readTransaction(session: Session, deployment: Deployment, payer: string, hash: string): Promise<Found> {
  const { addresses } = deployment;
  const found: Found = { rows: [], hidden: [] };
  const receipt = await session.provider.getTransactionReceipt(hash);
  // A node that is behind the one that named the transaction, or a reorg in between: it must be looked at again.
  if (receipt === null) return { rows: [], hidden: [{ batchId: null, transaction: hash }] };
  const logs = logsOf(receipt, addresses.router);
  for (const { args } of parseEventLogs({ abi: routerAbi, logs, eventName: "BatchSettled" })) {
    const { batchId, operator } = args;
    const row = await readRow(session, deployment, payer, { batchId, operator, receipt, logs });
    if (row === null) found.hidden.push({ batchId, transaction: hash });
    else if (row.charged > 0n) found.rows.push(row);
  }
  return found;
}

type Settled = { batchId: Hex; operator: Address; receipt: TransactionReceipt; logs: ViemLog[] };

// Null if no calldata is found that the router settled in this way. The router's own memory decides it, not this node's word.
async function readRow(
  session: Session,
  { router, receiptCourt, addresses }: Deployment,
  payer: string,
  { batchId, operator, receipt, logs }: Settled,
): Promise<PaidRow | null> {
  const { hash, blockNumber: block } = receipt;
  for await (const call of findSettleCalls(session, { hash, router: addresses.router, batchId })) {
    const settlement = settlementOf(operator, call, logs);
    const shown = settlement && (await receiptCourt.chargedIn(settlement, payer).catch(() => null));
    if (settlement === null || shown === null || shown.batchId !== batchId) continue;
    const lines = shown.lines.map(({ toolId, amount }) => ({ toolId, amount }));
    const settledAt = await router.settledAt(batchId);
    return { batchId, operator, transaction: hash, block, settledAt, settlement, lines, charged: shown.charged };
  }
  return null;
}

function settlementOf(operator: string, call: Hex, logs: ViemLog[]): Settlement | null {
  try {
    return { operator, call, exceptions: exceptionsOf(call, logs) };
  } catch {
    return null;
  }
}

// Only what the router itself says counts.
const logsOf = (receipt: TransactionReceipt, router: string): ViemLog[] =>
  receipt.logs
    .filter(({ address }) => address === router)
    .map((log) => ({ ...log.toJSON(), topics: [...log.topics], address: log.address, data: log.data }) as never);
