import type { Address, Hex } from "viem";
import type { TxReceipt } from "../../../settlement/chain/chain.ts";
import type { BatchOutcome } from "../../../settlement/domain/batch/batch.ts";
import type { Faults } from "../faults/faults.ts";
import type { Rng } from "../rng.ts";
import { copyOf, type Protocol } from "./protocol.ts";
import { runTransaction } from "./runTransaction.ts";
import { hashOf, type Transaction } from "./transaction.ts";

const FIRST_BASE_FEE = 10_000_000n;
// A reorg is never as deep as finality, which is at least 12 blocks away, and no replica lags by as much as lies between the
// two: what is final is the same everywhere.
const MAX_REORG_BLOCKS = 6;
export const MAX_LAG_HEADS = 3;

// What everybody's transactions change together.
export type State = { protocol: Protocol; nonces: Map<Address, number>; funds: Map<Address, bigint> };

// Something that others do on chain, such as a payer who revokes an allowance.
export type Deed = { name: string; apply: (state: State) => void };

export type Block = {
  number: number;
  hash: Hex;
  parent: Block | null;
  timestamp: number;
  baseFeePerGas: bigint;
  state: State;
  deeds: readonly Deed[];
  transactions: readonly { transaction: Transaction; receipt: TxReceipt; batchId: Hex | null }[];
};

export type View = { head: Block; finalized: number };

export type Blocks = ReturnType<typeof createBlocks>;

export type Genesis = {
  protocol: Protocol;
  funds: ReadonlyMap<Address, bigint>;
  startAt: number;
  // How far the finalized block is behind the head.
  finalityBlocks: number;
};

// Blocks and the mempool, with reorgs and a finality that lags. What a batch does is in protocol.ts.
export function createBlocks(rng: Rng, faults: Faults, genesisOptions: Genesis) {
  const { protocol, funds: firstFunds, startAt, finalityBlocks } = genesisOptions;
  const genesis: Block = {
    number: 0,
    hash: hashOf("genesis"),
    parent: null,
    timestamp: startAt,
    baseFeePerGas: FIRST_BASE_FEE,
    state: { protocol, nonces: new Map(), funds: new Map(firstFunds) },
    deeds: [],
    transactions: [],
  };
  // The blocks that will not be undone, by number.
  const settledBlocks: Block[] = [genesis];
  // What nodes have shown, oldest first, and what is being put together.
  const shown: View[] = [{ head: genesis, finalized: 0 }];
  let current: View = { head: genesis, finalized: 0 };
  const mempool = new Map<Address, Map<number, Transaction>>();
  const minedIn = new Map<Hex, Block[]>();
  const rootsIn = new Map<Hex, Block[]>();
  let deeds: Deed[] = [];
  let salt = 0;
  let reorgs = 0;
  let feeTarget = FIRST_BASE_FEE;
  // While a node's index of transactions stands still it has the state of newer blocks, but none of their receipts.
  let index: { at: number; until: number } | null = null;

  const fresh = () => current;
  const mempoolOf = (account: Address) => {
    const own = mempool.get(account) ?? new Map<number, Transaction>();
    mempool.set(account, own);
    return own;
  };

  function blockAt({ head }: View, number: number): Block | null {
    if (number > head.number || number < 0) return null;
    if (number < settledBlocks.length) return settledBlocks[number] ?? null;
    let block: Block | null = head;
    while (block !== null && block.number > number) block = block.parent;
    return block;
  }

  const isCanonical = (view: View, block: Block) => blockAt(view, block.number) === block;

  function produce(timestamp: number): void {
    extend(timestamp);
    shown.push(current);
    const { number } = current.head;
    if (index !== null && index.until <= number) index = null;
    // Long enough for what was mined meanwhile to become final.
    const until = number + rng.between(finalityBlocks + 2, 3 * finalityBlocks);
    if (index === null && faults.strike("an index stands still", 0.01)) index = { at: number, until };
  }

  function extend(timestamp: number): void {
    const parent = fresh().head;
    const baseFeePerGas = nextBaseFee(parent.baseFeePerGas);
    const included = deeds;
    deeds = [];
    let state = parent.state;
    const change = () => {
      if (state === parent.state) {
        const { protocol, nonces, funds } = parent.state;
        state = { protocol: copyOf(protocol), nonces: new Map(nonces), funds: new Map(funds) };
      }
      return state;
    };
    const block: Block = {
      number: parent.number + 1,
      hash: hashOf(`${parent.hash} ${salt++}`),
      parent,
      timestamp: Math.max(timestamp, parent.timestamp + 1),
      baseFeePerGas,
      state,
      deeds: included,
      transactions: [],
    };
    // What others do comes before or after the transactions of the mempool, as it happens.
    const early = rng.below(included.length + 1);
    for (const deed of included.slice(0, early)) deed.apply(change());
    const transactions = mineable(parent.state, baseFeePerGas).flatMap((transaction) => {
      const mined = execute(change(), transaction, block);
      if (mined === null) return [];
      state = mined.state;
      return [{ transaction, receipt: mined.receipt, batchId: mined.batchId }];
    });
    for (const deed of included.slice(early)) deed.apply(change());
    block.state = state;
    block.transactions = transactions;
    for (const { transaction, batchId } of transactions) {
      note(minedIn, transaction.hash, block);
      if (batchId !== null) note(rootsIn, batchId, block);
    }
    for (const [account, own] of mempool) {
      for (const [nonce, { fleeting }] of own) if (fleeting || nonce < nonceOf(state, account)) own.delete(nonce);
    }
    advance(block);
  }

  function advance(head: Block): void {
    let { finalized } = fresh();
    const lag = finalityBlocks + (faults.strike("finality lags", 0.3) ? rng.below(6) : 0);
    const view = { head, finalized };
    const target = head.number - lag;
    while (settledBlocks.length <= target) {
      const next = blockAt(view, settledBlocks.length);
      if (next === null) throw new RangeError("a block below the head is missing");
      settledBlocks.push(next);
    }
    finalized = Math.max(finalized, target);
    current = { head, finalized };
  }

  function mineable({ nonces }: State, baseFeePerGas: bigint): Transaction[] {
    const result: Transaction[] = [];
    for (const [account, own] of mempool) {
      for (let nonce = nonces.get(account) ?? 0; ; nonce++) {
        const transaction = own.get(nonce);
        if (transaction === undefined || transaction.maxFeePerGas < baseFeePerGas) break;
        if (faults.strike("left for a later block", 0.2)) break;
        result.push(transaction);
      }
    }
    return result.sort((a, b) => Number(b.fleeting ?? false) - Number(a.fleeting ?? false));
  }

  function execute(state: State, transaction: Transaction, block: Block) {
    const { from, nonce, maxFeePerGas, maxPriorityFeePerGas, gasLimit } = transaction;
    const tip = maxFeePerGas - block.baseFeePerGas;
    const price = block.baseFeePerGas + smaller(tip, maxPriorityFeePerGas);
    const funds = state.funds.get(from) ?? 0n;
    if (nonceOf(state, from) !== nonce || funds < gasLimit * price) return null;
    const work = { ...state, protocol: copyOf(state.protocol) };
    const { gas, result, batchId } = runTransaction(work.protocol, transaction, block.timestamp);
    const enough = gas <= gasLimit;
    const gasUsed = enough ? gas : gasLimit;
    state.nonces.set(from, nonce + 1);
    state.funds.set(from, funds - gasUsed * price);
    const settled = enough && result?.kind === "settled" ? result.outcome : null;
    const success = enough && result?.kind !== "reverted";
    const receipt: TxReceipt = {
      txHash: transaction.hash,
      blockNumber: BigInt(block.number),
      blockHash: block.hash,
      status: success ? "success" : "reverted",
      gasUsed,
      batches: new Map(settled !== null && batchId !== null ? [[batchId, settled satisfies BatchOutcome]] : []),
    };
    faults.trace(
      `mined ${from.slice(-3)}/${nonce} in ${block.number}: ${result?.kind === "reverted" ? result.error : receipt.status}`,
    );
    return { receipt, batchId: settled === null ? null : batchId, state: success ? work : state };
  }

  function nextBaseFee(fee: bigint): bigint {
    if (faults.strike("base fee jumps", 0.03)) feeTarget = FIRST_BASE_FEE * BigInt(rng.pick([3, 30, 2000]));
    else if (faults.stopped() || rng.happens(0.1)) feeTarget = FIRST_BASE_FEE;
    const step = fee / 8n;
    if (fee < feeTarget) return smaller(fee + step, feeTarget);
    return larger(fee - step, feeTarget);
  }

  // Other blocks take the place of the newest ones. Their transactions come back to the mempool, or do not.
  function reorg(): void {
    const { head, finalized } = fresh();
    const depth = Math.min(foreign()?.depth ?? rng.between(1, MAX_REORG_BLOCKS), head.number - finalized - 1);
    if (depth < 1) return;
    reorgs += 1;
    const orphans: Block[] = [];
    for (let block = head; orphans.length < depth && block.parent !== null; block = block.parent)
      orphans.unshift(block);
    const base = orphans[0]?.parent;
    if (!base) return;
    faults.trace(`reorg: blocks from ${base.number + 1} to ${head.number} are left`);
    current = { head: base, finalized };
    deeds = [...orphans.flatMap((block) => block.deeds), ...deeds];
    for (const { transaction } of orphans.flatMap(({ transactions }) => transactions)) {
      const own = mempoolOf(transaction.from);
      if (own.has(transaction.nonce) || transaction.fleeting || rng.happens(0.4)) continue;
      own.set(transaction.nonce, transaction);
    }
    // Nobody sees half of a reorg.
    for (const { timestamp } of orphans) extend(timestamp);
    shown.push(current);
  }

  // Blocks that were final are undone, and what was in them comes back to the mempool or does not. Whoever asks next sees a chain that ends there.
  function undo(depth: number): void {
    const { head, finalized } = fresh();
    const base = blockAt(current, Math.max(0, finalized - depth));
    if (base === null || base.number >= finalized) return;
    faults.trace(`blocks from ${base.number + 1} to ${head.number} are undone, of which ${finalized} was final`);
    const orphans: Block[] = [];
    for (let block: Block | null = head; block !== null && block !== base; block = block.parent) orphans.unshift(block);
    settledBlocks.length = base.number + 1;
    current = { head: base, finalized: base.number };
    deeds = [...orphans.flatMap((block) => block.deeds), ...deeds];
    for (const { transaction } of orphans.flatMap(({ transactions }) => transactions)) {
      const own = mempoolOf(transaction.from);
      if (own.has(transaction.nonce) || transaction.fleeting || rng.happens(0.3)) continue;
      own.set(transaction.nonce, transaction);
    }
    shown.length = 0;
    shown.push(current);
    index = null;
  }

  // The newest transaction that came from elsewhere and would not come back: how deep it lies, and whether the same key has
  // signed for a later nonce since, which would then wait without end. Null if it is out of reach.
  function foreign(): { depth: number; followed: boolean } | null {
    let block: Block | null = fresh().head;
    for (let depth = 1; depth <= MAX_REORG_BLOCKS && block !== null; depth++, block = block.parent) {
      const found = block.transactions.find(({ transaction }) => transaction.fleeting)?.transaction;
      if (found === undefined) continue;
      const { from, nonce } = found;
      const mined = nonceOf(fresh().head.state, from) > nonce + 1;
      return { depth, followed: mined || [...mempoolOf(from).keys()].some((pooled) => pooled > nonce) };
    }
    return null;
  }

  return {
    produce,
    reorg,
    undo,
    foreign,
    reorgs: () => reorgs,
    // The blocks of the moment, and what nodes have shown before, oldest first.
    newest: fresh,
    shown,
    blockAt,
    isCanonical,
    // The blocks that a transaction or a batch was ever mined in.
    withTransaction: (txHash: Hex): readonly Block[] => minedIn.get(txHash) ?? [],
    withBatch: (batchId: Hex): readonly Block[] => rootsIn.get(batchId) ?? [],
    isFinal: (block: Block) => settledBlocks[block.number] === block,
    isIndexed: ({ blockNumber }: TxReceipt) => index === null || Number(blockNumber) <= index.at,
    do: (name: string, apply: Deed["apply"]) => deeds.push({ name, apply }),
    mempoolOf,
    pooled: () => [...mempool.values()].flatMap((own) => [...own.values()]),
    // Nodes forget a transaction, and those that wait for it.
    drop({ from, nonce }: Transaction) {
      for (const later of mempoolOf(from).keys()) if (later >= nonce) mempoolOf(from).delete(later);
    },
    // A transaction that the engine knows nothing of.
    inject(transaction: Omit<Transaction, "hash" | "nonce" | "maxFeePerGas" | "maxPriorityFeePerGas">) {
      const nonce = nonceOf(fresh().head.state, transaction.from);
      const fee = FIRST_BASE_FEE * 10_000n;
      const hash = hashOf(`foreign ${salt++}`);
      mempoolOf(transaction.from).set(nonce, {
        ...transaction,
        hash,
        nonce,
        maxFeePerGas: fee,
        maxPriorityFeePerGas: 1n,
      });
    },
  };
}

export const nonceOf = ({ nonces }: State, account: Address) => nonces.get(account) ?? 0;

const smaller = (a: bigint, b: bigint) => (a < b ? a : b);
const larger = (a: bigint, b: bigint) => (a > b ? a : b);

function note(map: Map<Hex, Block[]>, key: Hex, block: Block): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [block]);
  else known.push(block);
}
