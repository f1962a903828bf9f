import { createHash } from "node:crypto";
import { type Address, decodeFunctionData, type Hex } from "viem";
import { routerAbi } from "../../settlement/chain/abi.ts";
import type { Block as BlockName, Chain, SendOutcome, Simulation, TxReceipt } from "../../settlement/chain/chain.ts";
import { decodeRows } from "../../settlement/chain/encodeRows.ts";
import type { Signer } from "../../settlement/chain/signer.ts";
import type { BatchOutcome } from "../../settlement/domain/batch.ts";
import { SettlementError } from "../../settlement/domain/errors.ts";
import { microUsdc } from "../../settlement/domain/money.ts";
import type { ToolId } from "../../settlement/domain/toolId.ts";
import type { Chance } from "./chance.ts";
import type { Faults } from "./faults.ts";
import { copyOf, type Protocol, payout, type SettleResult, settle, spendableOf } from "./protocol.ts";

const CHAIN_ID = 8453;
const FIRST_BASE_FEE = 10_000_000n;
const PRIORITY_FEE = 1_000_000n;
const TRANSFER_GAS = 21_000n;
const BATCH_GAS = 80_000n;
const ROW_GAS = 30_000n;
const MAX_GAS = 2n ** 24n;
// A reorganisation is never as deep as finality, and no replica lags by as much as lies between the two: what is final
// is the same everywhere.
const FINALITY_BLOCKS = 12;
const MAX_REORG_BLOCKS = 6;
const MAX_LAG_HEADS = 3;
// Long enough for what was mined meanwhile to become final.
const MIN_STANDSTILL_BLOCKS = 14;
const MAX_STANDSTILL_BLOCKS = 40;

// What everybody's transactions change together.
export type State = { protocol: Protocol; nonces: Map<Address, number>; funds: Map<Address, bigint> };

export type Transaction = {
  hash: Hex;
  from: Address;
  nonce: number;
  to: Address;
  calldata: Hex;
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  // It is in the next block or never.
  fleeting?: boolean;
};

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
  transactions: readonly { transaction: Transaction; receipt: TxReceipt; root: Hex | null }[];
};

type View = { head: Block; finalized: number };

export type SimulatedChain = ReturnType<typeof createSimulatedChain>;

// A chain in memory. What it does with a batch is in protocol.ts; here are blocks, the pool, and nodes that lag and lie.
export function createSimulatedChain(
  chance: Chance,
  faults: Faults,
  options: {
    protocol: Protocol;
    insurance: Address;
    funds: ReadonlyMap<Address, bigint>;
    maxRows: number;
    startAt: number;
  },
) {
  const { insurance, maxRows } = options;
  const { router } = options.protocol;
  const genesis: Block = {
    number: 0,
    hash: hashOf("genesis"),
    parent: null,
    timestamp: options.startAt,
    baseFeePerGas: FIRST_BASE_FEE,
    state: { protocol: options.protocol, nonces: new Map(), funds: new Map(options.funds) },
    deeds: [],
    transactions: [],
  };
  // The blocks that will not be undone, by number.
  const settledBlocks: Block[] = [genesis];
  // What nodes have shown, oldest first, and what is being put together.
  const shown: View[] = [{ head: genesis, finalized: 0 }];
  let current: View = { head: genesis, finalized: 0 };
  const pool = new Map<Address, Map<number, Transaction>>();
  const minedIn = new Map<Hex, Block[]>();
  const rootsIn = new Map<Hex, Block[]>();
  let deeds: Deed[] = [];
  let salt = 0;
  let reorgs = 0;
  let feeTarget = FIRST_BASE_FEE;
  // While a node's index of transactions stands still it has the state of newer blocks, but none of their receipts.
  let index: { at: number; until: number } | null = null;
  const withheld = new Set<Hex>();

  const fresh = () => current;
  const poolOf = (account: Address) => {
    const own = pool.get(account) ?? new Map<number, Transaction>();
    pool.set(account, own);
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

  // ── Blocks.

  function produce(timestamp: number): void {
    extend(timestamp);
    shown.push(current);
    const { number } = current.head;
    if (index !== null && index.until <= number) index = null;
    const until = number + chance.between(MIN_STANDSTILL_BLOCKS, MAX_STANDSTILL_BLOCKS);
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
    // What others do comes before or after the transactions of the pool, as it happens.
    const early = chance.below(included.length + 1);
    for (const deed of included.slice(0, early)) deed.apply(change());
    const transactions = mineable(parent.state, baseFeePerGas).flatMap((transaction) => {
      const mined = execute(change(), transaction, block);
      if (mined === null) return [];
      state = mined.state;
      return [{ transaction, receipt: mined.receipt, root: mined.root }];
    });
    for (const deed of included.slice(early)) deed.apply(change());
    block.state = state;
    block.transactions = transactions;
    for (const { transaction, root } of transactions) {
      note(minedIn, transaction.hash, block);
      if (root !== null) note(rootsIn, root, block);
    }
    for (const [account, own] of pool) {
      for (const [nonce, { fleeting }] of own) if (fleeting || nonce < nonceOf(state, account)) own.delete(nonce);
    }
    advance(block);
  }

  function advance(head: Block): void {
    let { finalized } = fresh();
    const lag = FINALITY_BLOCKS + (faults.strike("finality lags", 0.3) ? chance.below(6) : 0);
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
    for (const [account, own] of pool) {
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
    const { gas, result, root } = run(work.protocol, transaction, block.timestamp);
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
      batches: new Map(settled !== null && root !== null ? [[root, settled satisfies BatchOutcome]] : []),
    };
    faults.trace(
      `mined ${from.slice(-3)}/${nonce} in ${block.number}: ${result?.kind === "reverted" ? result.error : receipt.status}`,
    );
    return { receipt, root: settled === null ? null : root, state: success ? work : state };
  }

  // Runs a transaction on a state of its own.
  function run(
    protocol: Protocol,
    { from, to, calldata }: Pick<Transaction, "from" | "to" | "calldata">,
    timestamp: number,
  ): { gas: bigint; result: SettleResult | null; root: Hex | null } {
    if (to.toLowerCase() !== router) return { gas: TRANSFER_GAS, result: null, root: null };
    const { functionName, args } = decodeFunctionData({ abi: routerAbi, data: calldata });
    if (functionName === "payout") {
      const [accounts] = args as [readonly Address[]];
      payout(protocol, accounts.map(lower));
      return { gas: BATCH_GAS, result: null, root: null };
    }
    const [root, toolIds, rows] = args as [Hex, readonly ToolId[], Hex];
    const gas = BATCH_GAS + ROW_GAS * BigInt(decodeRows(rows).length);
    return {
      gas,
      root,
      result: settle(protocol, { operator: from, root, toolIds, rows, timestamp: BigInt(timestamp) }),
    };
  }

  function nextBaseFee(fee: bigint): bigint {
    if (faults.strike("base fee jumps", 0.03)) feeTarget = FIRST_BASE_FEE * BigInt(chance.pick([3, 30, 2000]));
    else if (faults.stopped() || chance.happens(0.1)) feeTarget = FIRST_BASE_FEE;
    const step = fee / 8n;
    if (fee < feeTarget) return smaller(fee + step, feeTarget);
    return larger(fee - step, feeTarget);
  }

  // Other blocks take the place of the newest ones. Their transactions come back to the pool, or do not.
  function reorganise(): void {
    const { head, finalized } = fresh();
    const depth = Math.min(foreign()?.depth ?? chance.between(1, MAX_REORG_BLOCKS), head.number - finalized - 1);
    if (depth < 1) return;
    reorgs += 1;
    const orphans: Block[] = [];
    for (let block = head; orphans.length < depth && block.parent !== null; block = block.parent)
      orphans.unshift(block);
    const base = orphans[0]?.parent;
    if (!base) return;
    faults.trace(`reorganisation: blocks from ${base.number + 1} to ${head.number} are left`);
    current = { head: base, finalized };
    deeds = [...orphans.flatMap((block) => block.deeds), ...deeds];
    for (const { transaction } of orphans.flatMap(({ transactions }) => transactions)) {
      const own = poolOf(transaction.from);
      if (own.has(transaction.nonce) || transaction.fleeting || chance.happens(0.4)) continue;
      own.set(transaction.nonce, transaction);
    }
    // Nobody sees half of a reorganisation.
    for (const { timestamp } of orphans) extend(timestamp);
    shown.push(current);
  }

  // The newest transaction that came from elsewhere and would not come back: how deep it lies, and whether the same key has
  // signed for a later nonce since, which would then wait for ever. Null if it is out of reach.
  function foreign(): { depth: number; followed: boolean } | null {
    let block: Block | null = fresh().head;
    for (let depth = 1; depth <= MAX_REORG_BLOCKS && block !== null; depth++, block = block.parent) {
      const found = block.transactions.find(({ transaction }) => transaction.fleeting)?.transaction;
      if (found === undefined) continue;
      const { from, nonce } = found;
      const mined = nonceOf(fresh().head.state, from) > nonce + 1;
      return { depth, followed: mined || [...poolOf(from).keys()].some((pooled) => pooled > nonce) };
    }
    return null;
  }

  // ── What nodes answer.

  const view = () =>
    shown.length > MAX_LAG_HEADS && faults.strike("a replica lags", 0.05)
      ? (shown.at(-1 - chance.between(1, MAX_LAG_HEADS)) as View)
      : current;

  const stateAt = (at: "latest" | bigint): State => {
    const seen = view();
    const block = at === "latest" ? seen.head : blockAt(seen, Number(at));
    if (block === null) throw unavailable("it does not have this block yet");
    return block.state;
  };

  const nameOf = ({ number, hash, timestamp }: Block): BlockName => ({
    number: BigInt(number),
    hash,
    timestampMs: timestamp * 1000,
  });

  function receiptIn(seen: View, txHash: Hex): TxReceipt | null {
    const block = minedIn.get(txHash)?.find((candidate) => isCanonical(seen, candidate));
    const receipt = block?.transactions.find(({ transaction }) => transaction.hash === txHash)?.receipt ?? null;
    if (receipt === null) return null;
    if (isIndexed(receipt) && !faults.strike("no receipt", 0.05)) return receipt;
    withheld.add(txHash);
    return null;
  }

  function receiptOfRootIn(seen: View, root: Hex): TxReceipt | null {
    const block = rootsIn.get(root)?.find((candidate) => isCanonical(seen, candidate));
    const receipt = block?.transactions.find((mined) => mined.root === root)?.receipt ?? null;
    if (receipt === null || !isIndexed(receipt) || faults.strike("a search finds no log", 0.05)) return null;
    return receipt;
  }

  const isIndexed = ({ blockNumber }: TxReceipt) =>
    index === null || faults.stopped() || Number(blockNumber) <= index.at;

  function simulate({ from, to, calldata }: { from: Address; to: Address; calldata: Hex }): Simulation {
    if (faults.strike("a simulation reverts for no reason", 0.02)) return { kind: "reverts", reason: "who knows" };
    const { head } = view();
    const { gas, result } = run(copyOf(head.state.protocol), { from: lower(from), to, calldata }, head.timestamp + 1);
    if (gas > BATCH_GAS + ROW_GAS * BigInt(maxRows)) return { kind: "too_large", reason: `it needs ${gas} gas` };
    if (result?.kind !== "reverted") return { kind: "ok", gas };
    const { error, args } = result;
    switch (error) {
      case "TokenUnavailable":
      case "EnforcedPause":
        return { kind: "unavailable", reason: error };
      case "NotOperator":
      case "OperatorLimitExceeded":
        return { kind: "operator_refused", reason: error };
      case "BatchAlreadySettled":
        return { kind: "already_settled" };
      case "ChargeUnexplained":
        return { kind: "row_breaks", payer: args[0] as Address };
      default:
        return { kind: "reverts", reason: error };
    }
  }

  function accept(transaction: Transaction): SendOutcome {
    const { head } = fresh();
    const own = poolOf(transaction.from);
    const pooled = own.get(transaction.nonce);
    if (pooled?.hash === transaction.hash) return { kind: "already_known" };
    if (transaction.nonce < nonceOf(head.state, transaction.from)) return { kind: "nonce_too_low" };
    if (transaction.gasLimit < TRANSFER_GAS) return { kind: "unknown", reason: "intrinsic gas too low" };
    if (transaction.maxFeePerGas < head.baseFeePerGas) return { kind: "fee_too_low" };
    if ((head.state.funds.get(transaction.from) ?? 0n) < transaction.gasLimit * transaction.maxFeePerGas) {
      return { kind: "insufficient_funds" };
    }
    if (pooled !== undefined && !isTenthMore(transaction, pooled)) return { kind: "replacement_underpriced" };
    const gap = transaction.nonce > nonceOf(head.state, transaction.from) + own.size;
    if (gap && faults.strike("a node refuses nonces that are ahead", 0.5)) return { kind: "nonce_too_high" };
    // Nodes forward what they take in, and now and then the sequencer has the cheaper bytes first.
    if (pooled !== undefined && faults.strike("a replacement does not reach the sequencer", 0.7)) {
      return { kind: "accepted" };
    }
    own.set(transaction.nonce, transaction);
    return { kind: "accepted" };
  }

  function send(raw: Hex): SendOutcome {
    if (faults.strike("a send is lost", 0.06)) return { kind: "unknown", reason: "time-out" };
    const outcome = accept(transactionOf(raw));
    if (faults.strike("the answer to a send is lost", 0.06)) return { kind: "unknown", reason: "time-out" };
    if (faults.strike("a misleading answer to a send", 0.03)) {
      return chance.pick([{ kind: "already_known" }, { kind: "nonce_too_low" }, { kind: "fee_too_low" }] as const);
    }
    return outcome;
  }

  const ask = async <T>(question: () => T): Promise<T> => {
    if (faults.strike("an endpoint fails", 0.02)) throw unavailable("an endpoint failed");
    return question();
  };

  const port: Chain = {
    chainId: CHAIN_ID,
    router,
    insurance,
    head: () =>
      ask(() => {
        const { head } = view();
        return { ...nameOf(head), baseFeePerGas: head.baseFeePerGas, maxGas: MAX_GAS };
      }),
    finalized: () =>
      ask(() => {
        const seen = view();
        return nameOf(blockAt(seen, seen.finalized) as Block);
      }),
    blockHash: (number) => ask(() => blockAt(view(), Number(number))?.hash ?? null),
    receipt: (txHash) => ask(() => receiptIn(view(), txHash)),
    receiptOfBatch: (root) => ask(() => receiptOfRootIn(view(), root)),
    nonce: (account, at) => ask(() => nonceOf(stateAt(at), lower(account))),
    settledAt: (root, at) => ask(() => stateAt(at).protocol.settledAt.get(root) ?? 0n),
    // Its token is no proxy.
    tokenImplementation: async () => null,
    availability: () =>
      ask(() => {
        const { tokenPaused, routerPaused, blacklisted } = fresh().head.state.protocol;
        if (tokenPaused) return { kind: "unavailable", reason: "USDC is paused" } as const;
        if (blacklisted.has(router)) return { kind: "unavailable", reason: "USDC has blacklisted the router" } as const;
        if (routerPaused) return { kind: "unavailable", reason: "the router is paused" } as const;
        return { kind: "available" } as const;
      }),
    balance: (account) => ask(() => stateAt("latest").funds.get(lower(account)) ?? 0n),
    priorityFee: () => ask(() => PRIORITY_FEE),
    simulate: (call) => ask(() => simulate(call)),
    spendable: (payers) =>
      ask(() => {
        const { state, timestamp } = view().head;
        return payers.map((payer) => ({ ...spendableOf(state.protocol, lower(payer), BigInt(timestamp)), payer }));
      }),
    credits: (accounts) =>
      ask(() => {
        const { credits } = stateAt("latest").protocol;
        return accounts.map((account) => microUsdc(credits.get(lower(account)) ?? 0n));
      }),
    send: async (raw) => send(raw),
    settledBatches: (fromBlock, toBlock) =>
      ask(() => {
        const seen = fresh();
        const found: { root: Hex; txHash: Hex; blockNumber: bigint }[] = [];
        for (let number = Number(fromBlock); number <= Number(toBlock); number++) {
          for (const { root, transaction } of blockAt(seen, number)?.transactions ?? []) {
            if (root !== null) found.push({ root, txHash: transaction.hash, blockNumber: BigInt(number) });
          }
        }
        return found;
      }),
  };

  return {
    port,
    produce,
    reorganise,
    foreign,
    reorgs: () => reorgs,
    head: () => fresh().head,
    finalizedNumber: () => fresh().finalized,
    blockAt: (number: number) => blockAt(fresh(), number),
    // What a transaction came to in a block, whether or not that block was left.
    minedAs: (txHash: Hex, blockHash: Hex) =>
      minedIn
        .get(txHash)
        ?.find(({ hash }) => hash === blockHash)
        ?.transactions.find(({ transaction }) => transaction.hash === txHash)?.receipt.status ?? null,
    // What it came to for good, or null if that is not known yet.
    finalStatusOf: (txHash: Hex) =>
      minedIn
        .get(txHash)
        ?.find((block) => settledBlocks[block.number] === block)
        ?.transactions.find(({ transaction }) => transaction.hash === txHash)?.receipt.status ?? null,
    // Whether a node has ever denied a receipt that it should have had.
    wasWithheld: (txHash: Hex) => withheld.has(txHash),
    do: (name: string, apply: Deed["apply"]) => deeds.push({ name, apply }),
    pooled: () => [...pool.values()].flatMap((own) => [...own.values()]),
    // Whom a transaction charges, if it is a batch.
    payersOf({ to, calldata }: Transaction): Address[] {
      if (to.toLowerCase() !== router) return [];
      const { functionName, args } = decodeFunctionData({ abi: routerAbi, data: calldata });
      return functionName === "settle" ? decodeRows(args[2]).map(({ payer }) => lower(payer)) : [];
    },
    // Nodes forget a transaction, and those that wait for it.
    drop({ from, nonce }: Transaction) {
      for (const later of poolOf(from).keys()) if (later >= nonce) poolOf(from).delete(later);
    },
    // A transaction that the engine knows nothing of.
    inject(transaction: Omit<Transaction, "hash" | "nonce" | "maxFeePerGas" | "maxPriorityFeePerGas">) {
      const nonce = nonceOf(fresh().head.state, transaction.from);
      const fee = FIRST_BASE_FEE * 10_000n;
      const hash = hashOf(`foreign ${salt++}`);
      poolOf(transaction.from).set(nonce, { ...transaction, hash, nonce, maxFeePerGas: fee, maxPriorityFeePerGas: 1n });
    },
  };
}

// Signed bytes are the transaction itself with its sender: nothing here depends on curves.
export function createSimulatedSigner(address: Address): Signer {
  return {
    address,
    async sign({ chainId, nonce, to, calldata, gasLimit, maxFeePerGas, maxPriorityFeePerGas }) {
      const fees = [gasLimit, maxFeePerGas, maxPriorityFeePerGas].map(String);
      const raw: Hex = `0x${Buffer.from(JSON.stringify([address, chainId, nonce, to, calldata, ...fees])).toString("hex")}`;
      return { raw, txHash: hashOf(raw) };
    },
  };
}

export function transactionOf(raw: Hex): Transaction {
  const fields = JSON.parse(Buffer.from(raw.slice(2), "hex").toString()) as string[];
  const [from, , nonce, to, calldata, gasLimit, maxFeePerGas, maxPriorityFeePerGas] = fields;
  return {
    hash: hashOf(raw),
    from: lower(from as Address),
    nonce: Number(nonce),
    to: to as Address,
    calldata: calldata as Hex,
    gasLimit: BigInt(gasLimit ?? 0),
    maxFeePerGas: BigInt(maxFeePerGas ?? 0),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas ?? 0),
  };
}

const smaller = (a: bigint, b: bigint) => (a < b ? a : b);
const larger = (a: bigint, b: bigint) => (a > b ? a : b);
const nonceOf = ({ nonces }: State, account: Address) => nonces.get(account) ?? 0;
const hashOf = (text: string): Hex => `0x${createHash("sha256").update(text).digest("hex")}`;
const lower = (address: Address) => address.toLowerCase() as Address;
const unavailable = (reason: string) => new SettlementError("chain_unavailable", reason, { retryable: true });

// Nodes want a tenth more of both fees before they let go of what they have.
const isTenthMore = (next: Transaction, last: Transaction) =>
  next.maxFeePerGas * 10n >= last.maxFeePerGas * 11n &&
  next.maxPriorityFeePerGas * 10n >= last.maxPriorityFeePerGas * 11n;

function note(map: Map<Hex, Block[]>, key: Hex, block: Block): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [block]);
  else known.push(block);
}
