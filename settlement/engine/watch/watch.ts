import type { Address, Hex } from "viem";
import type { Block, SettledBatch } from "../../chain/chain.ts";
import type { Contest } from "../../domain/batch/contest.ts";
import { SettlementError } from "../../domain/errors.ts";
import { larger, smaller } from "../../domain/money.ts";
import type { Lease } from "../../ledger/ledger.ts";
import { halt } from "../confirm/confirm.ts";
import type { EngineContext } from "../context.ts";
import { explain, ourKeys } from "./explain.ts";
import { findVanished } from "./reopenVanished.ts";

// Logs may come from a node that is behind the one that named the head, and it does not say so. It is asked again for the
// blocks of the last two minutes, and no batch becomes final within them.
const OVERLAP_BLOCKS = 64n;

// How far to look back when a final block was undone: a day of Base.
const REWOUND_BLOCKS = 43_200n;

const FINDINGS = {
  not_in_ledger: "which is not in the ledger",
  abandoned: "which the ledger has abandoned",
  other_rows: "which has other rows in the ledger",
};

export type Watch = ReturnType<typeof createWatch>;

// Looks at the chain for what this ledger cannot explain. Exactly once rests on the ledger's memory; a restored copy, a
// failover that lost commits, a batch that was given up too early and a thief with a key all show in the same way: as a
// batch, or a nonce, of one of our keys that the ledger does not know. Then nobody submits until a person has looked.
export function createWatch(context: EngineContext, noteContests: (contests: readonly Contest[]) => Promise<void>) {
  const { ledger, chain } = context;
  // Up to where this process has looked, above what is final.
  let seen: Pick<Block, "number" | "hash"> | null = null;

  // Keys whose nonce was above the ledger's when the chain was last asked.
  const suspicions = new Set<Address>();

  // What was said last of nonces that were used elsewhere. While all is halted for something else they are found in every tick.
  const told = new Map<Address, string>();

  // Before anything is planned in a tick. False while the chain is shorter than what was final: nothing can be said then.
  async function watch(): Promise<boolean> {
    const last = await ledger.readFinalized();
    const [finalized, head] = await Promise.all([chain.finalized(), chain.head()]);
    if (last !== null && !(await isStillFinal(last, finalized))) return false;
    // A ledger that begins later than what is final has nothing to say about the blocks before it.
    const from = larger(larger(last?.number ?? -1n, context.fromBlock - 1n), await lookedUpTo());
    const keys = await ourKeys(context);
    const { batches, contests } = await chain.settledAndContested(from + 1n, head.number);
    // Before the block that they are in is noted as final, after which nobody reads it again.
    await noteContests(contests.filter(({ operator }) => keys.has(operator)));
    await haltForUnexplained(batches, keys);
    const isNew = last === null || last.number < finalized.number;
    // Of what is final now nobody reads the logs again, and one endpoint may have left some out.
    if (isNew) {
      const since = larger(last?.number ?? -1n, context.fromBlock - 1n) + 1n;
      await haltForUnexplained(await chain.settledBatches(since, finalized.number), keys);
      await haltForVanished();
    }
    // What was found while all is halted must be found again when somebody has lifted the halt.
    if ((await ledger.readHalt()) !== null) return true;
    seen = head;
    if (isNew) await ledger.noteFinalized(finalized, context.looking.home);
    return true;
  }

  // What became final above the block from which the watch goes on, after it was rewound, may have been undone once more.
  async function haltForVanished(): Promise<void> {
    const vanished = (await findVanished(context)).find(({ isFinal }) => isFinal);
    if (vanished === undefined) return;
    const { id, blockNumber, blockHash } = vanished;
    await halt(
      context,
      `submission ${id} was final in block ${blockNumber} as ${blockHash}, which the chain has undone`,
    );
  }

  async function haltForUnexplained(batches: readonly SettledBatch[], keys: ReadonlySet<Address>): Promise<void> {
    for (const batch of batches) {
      const why = await explain(context, batch, keys);
      if (why === null) continue;
      const { batchId, operator, txHash } = batch;
      await halt(context, `${operator} has settled batch ${batchId} in ${txHash}, ${FINDINGS[why]}`);
    }
  }

  // A chain that undoes what it called final breaks the promise that everything else rests on.
  async function isStillFinal(last: Pick<Block, "number" | "hash">, finalized: Block): Promise<boolean> {
    const hash = await chain.blockHash(last.number);
    if (hash === null) {
      const reason = `block ${last.number} was final, and the chain ends at ${finalized.number} now`;
      for (const { address } of context.signers) context.report({ kind: "holding", operator: address, reason });
      return false;
    }
    if (hash !== last.hash) await haltForUndone(last, hash);
    return true;
  }

  async function haltForUndone(last: Pick<Block, "number" | "hash">, hash: Hex): Promise<void> {
    const reason = `block ${last.number} was final as ${last.hash} and is now ${hash}`;
    // Not before the router was there, and never ahead of what was final: a block and its hash must belong together, or the
    // same finding would halt again and again.
    const number = smaller(larger(context.fromBlock, last.number - REWOUND_BLOCKS), last.number);
    const earlier = await chain.blockHash(number);
    const goOnFrom = earlier === null ? { number: last.number, hash } : { number, hash: earlier };
    await ledger.haltForUndoneBlock(reason, goOnFrom, context.clock.nowMs(), context.looking.lifted);
    seen = null;
    context.report({ kind: "halted", reason });
  }

  // Where this process need not look again, if the chain goes on from there.
  async function lookedUpTo(): Promise<bigint> {
    if (seen === null || (await chain.blockHash(seen.number)) !== seen.hash) return -1n;
    return seen.number - OVERLAP_BLOCKS;
  }

  // Nonces that are spent on chain and that the ledger never gave out: somebody else has the key. The chain is asked first,
  // because a nonce is in the ledger before its bytes are anywhere. False if that is so, or may be: then nothing is planned with it.
  async function checkNonces(lease: Lease): Promise<boolean> {
    const latest = await chain.nonce(lease.operator, "latest");
    const own = (await ledger.listOperators()).find(({ operator }) => operator === lower(lease.operator));
    if (own === undefined) throw new SettlementError("fenced", `${lease.operator} is not in the ledger`);
    const suspected = suspicions.delete(lease.operator);
    // A key that this ledger has never used may have been used for something else before, and what a restored ledger has forgotten
    // is fenced off first.
    if (own.nextNonce === 0 || own.fence !== 0 || latest <= own.nextNonce) return true;
    // What is written down is asked of every endpoint, at a block that all of them have: one alone may name any number.
    const chainNonce = await chain.nonce(lease.operator, "shared");
    if (chainNonce <= own.nextNonce) return true;
    // Where there is one endpoint, one that says too much once is no thief. It is asked again in the next tick.
    if (!suspected) {
      suspicions.add(lease.operator);
      const reason = `nonce ${own.nextNonce} of ${lease.operator} is spent, and this ledger never gave it out`;
      context.report({ kind: "holding", operator: lease.operator, reason });
      return false;
    }
    const nonces = chainNonce - own.nextNonce === 1 ? `${own.nextNonce}` : `${own.nextNonce} to ${chainNonce - 1}`;
    const reason = `${lease.operator} has used nonce ${nonces}, which this ledger never gave out`;
    const { clock, looking } = context;
    await ledger.haltForForeignNonces(lease, chainNonce, reason, clock.nowMs(), looking.lifted);
    if (told.get(lease.operator) === reason) return false;
    told.set(lease.operator, reason);
    context.report({ kind: "key_used_elsewhere", operator: lease.operator, nonce: own.nextNonce });
    context.report({ kind: "halted", reason });
    return false;
  }

  return { watch, checkNonces };
}

const lower = (address: Address) => address.toLowerCase() as Address;
