import type { Address, Hex } from "viem";
import type {
  Block as BlockName,
  Chain,
  SendOutcome,
  SettledBatch,
  Simulation,
  Spendable,
  TxReceipt,
} from "../../../settlement/chain/chain.ts";
import { NO_BATCH } from "../../../settlement/chain/router/settleCall.ts";
import { createHeadRanking, type Ranking, type SeenHead } from "../../../settlement/chain/rpc/rankHeads.ts";
import type { Clock } from "../../../settlement/clock.ts";
import { NO_HASH } from "../../../settlement/domain/charges/charge.ts";
import { SettlementError } from "../../../settlement/domain/errors.ts";
import { microUsdc, smaller } from "../../../settlement/domain/money.ts";
import type { BudgetKey } from "../../../settlement/domain/payer/budget.ts";
import type { Faults } from "../faults/faults.ts";
import type { Rng } from "../rng.ts";
import { type Block, type Blocks, MAX_LAG_HEADS, nonceOf, type State, type View } from "./blocks.ts";
import { createLiar } from "./liar.ts";
import { budgetOf, CHAIN_ID, copyOf, hasSigned, prepaidOf, STAKE_MULTIPLIER, spendableOf } from "./protocol.ts";
import { leftOf, limitOf } from "./rollingLimit.ts";
import { maxGasOf, runTransaction, TRANSFER_GAS } from "./runTransaction.ts";
import { isTenthMore, lower, type Transaction, transactionOf } from "./transaction.ts";

const PRIORITY_FEE = 1_000_000n;
const MAX_GAS = 2n ** 24n;
const BLOCK_MS = 2_000;
const INVENTED_HASH: Hex = `0x${"1e".repeat(32)}`;
const INVENTION = "an endpoint invents blocks while the sequencer stands still";
// Then whoever goes by who is ahead takes the others for stale.
const BLOCKS_TO_OUTRUN = 16;

export type NodesOptions = {
  router: Address;
  insurance: Address;
  maxRows: number;
  endpoints: number;
  // Decides what one of several endpoints makes up; null where all of them say what they see.
  lies: Rng | null;
  // Decides which of them are always some blocks behind; null where none is.
  lags: Rng | null;
  // Decides which of three invents the next blocks while the sequencer stands still; null where none does.
  inventions: Rng | null;
};

// Less than what makes an endpoint stale, so that it is asked like the others.
const MAX_STEADY_LAG_BLOCKS = 12;

// An endpoint that stands still goes on answering, as if no block had been made since.
type Endpoint = { name: string; still: View | null; until: number; behind: number };

// Several endpoints that lag, stand still, forget and lie, as the engine sees the chain through them.
export function createNodes(blocks: Blocks, rng: Rng, faults: Faults, options: NodesOptions) {
  const { router, insurance, maxRows } = options;
  const withheld = new Set<Hex>();
  const endpoints = Array.from(
    { length: options.endpoints },
    (_, i): Endpoint => ({ name: `endpoint ${i + 1}`, still: null, until: 0, behind: 0 }),
  );

  for (const endpoint of options.endpoints > 1 && options.lags !== null ? endpoints : []) {
    if (options.lags?.happens(0.5)) endpoint.behind = options.lags.between(1, MAX_STEADY_LAG_BLOCKS);
  }

  let stalls = 0;

  // One of them calls its head final. It is never believed while another one answers that does not.
  const hasty = options.endpoints > 1 && rng.happens(0.2) ? rng.pick(endpoints) : null;

  // One of them goes on alone while the sequencer stands still, with blocks of its own, and calls what came before them final. It is
  // never believed while the two others answer.
  const mayInvent = options.inventions !== null && endpoints.length > 2 && hasty === null;
  const inventor = mayInvent ? (options.inventions?.pick(endpoints) ?? null) : null;
  let invented: { on: Block | null; blocks: number } = { on: null, blocks: 0 };
  let outruns = 0;

  // One more for every block that the sequencer should have made.
  function stall(): void {
    const on = blocks.newest().head;
    invented = { on, blocks: invented.on === on ? invented.blocks + 1 : 1 };
    if (inventor === null || faults.stopped() || invented.blocks !== BLOCKS_TO_OUTRUN) return;
    faults.trace(`fault ${INVENTION}`);
    outruns += 1;
  }

  // What an endpoint says when all are compared.
  function headOf(endpoint: Endpoint): SeenHead {
    const { head, finalized } = viewOf(endpoint);
    const seen = { endpoint: endpoint.name, head: nameOf(head) };
    if (endpoint !== inventor || head !== invented.on || faults.stopped()) {
      return { ...seen, finalized: nameOf(blocks.blockAt({ head, finalized }, finalized) as Block) };
    }
    const timestampMs = seen.head.timestampMs + invented.blocks * BLOCK_MS;
    const block = { number: seen.head.number + BigInt(invented.blocks), hash: INVENTED_HASH, timestampMs };
    return { ...seen, head: block, finalized: seen.head };
  }

  // One of them says what is not so.
  const liar = options.lies === null || endpoints.length < 2 ? null : createLiar(options.lies, faults);
  const lying = options.lies === null || liar === null ? null : options.lies.pick(endpoints);

  const shownBy = (endpoint: Endpoint | undefined, seen: View, txHash: Hex): TxReceipt | null => {
    const receipt = receiptIn(seen, txHash);
    if (liar === null || endpoint !== lying) return receipt;
    if (receipt === null) return liar.madeUp(txHash, (isFinal) => ran(seen, txHash, isFinal));
    return liar.receipt(receipt, () => calldataOf(txHash) as Hex);
  };

  // What a transaction that waits would come to in a block that there is.
  function ran(seen: View, txHash: Hex, isFinal: boolean): { receipt: TxReceipt; settles: boolean } | null {
    const transaction = blocks.pooled().find(({ hash }) => hash === txHash);
    const block = blocks.blockAt(seen, isFinal ? seen.finalized : seen.head.number);
    if (transaction === undefined || block === null) return null;
    const { gas, result, batchId } = runTransaction(copyOf(seen.head.state.protocol), transaction, block.timestamp);
    const outcome = result?.kind === "settled" ? result.outcome : null;
    return {
      settles: result?.kind !== "reverted",
      receipt: {
        txHash,
        blockNumber: BigInt(block.number),
        blockHash: block.hash,
        status: "success",
        gasUsed: gas,
        batches: new Map(outcome !== null && batchId !== null ? [[batchId, outcome]] : []),
      },
    };
  }

  function calldataOf(txHash: Hex): Hex | null {
    const mined = blocks.withTransaction(txHash).flatMap(({ transactions }) => transactions);
    return mined.find(({ transaction }) => transaction.hash === txHash)?.transaction.calldata ?? null;
  }

  function viewOf(endpoint: Endpoint): View {
    const seen = endpoint.still ?? laggingBy(endpoint.behind);
    return endpoint === hasty && !faults.stopped() ? { ...seen, finalized: seen.head.number } : seen;
  }

  function laggingBy(heads: number): View {
    if (heads === 0 || faults.stopped()) return blocks.newest();
    return blocks.shown.at(-1 - heads) ?? blocks.shown[0] ?? blocks.newest();
  }

  const nameOf = ({ number, hash, timestamp }: Block): BlockName => ({
    number: BigInt(number),
    hash,
    timestampMs: timestamp * 1000,
  });

  const isIndexed = (receipt: TxReceipt) => faults.stopped() || blocks.isIndexed(receipt);

  function receiptIn(seen: View, txHash: Hex): TxReceipt | null {
    const block = blocks.withTransaction(txHash).find((candidate) => blocks.isCanonical(seen, candidate));
    const receipt = block?.transactions.find(({ transaction }) => transaction.hash === txHash)?.receipt ?? null;
    if (receipt === null) return null;
    if (isIndexed(receipt) && !faults.strike("no receipt", 0.05)) return receipt;
    withheld.add(txHash);
    return null;
  }

  function receiptOfRootIn(seen: View, batchId: Hex): TxReceipt | null {
    const block = blocks.withBatch(batchId).find((candidate) => blocks.isCanonical(seen, candidate));
    const receipt = block?.transactions.find((mined) => mined.batchId === batchId)?.receipt ?? null;
    if (receipt === null || !isIndexed(receipt) || faults.strike("a search finds no log", 0.05)) return null;
    return receipt;
  }

  function simulate({ head }: View, { from, to, calldata }: { from: Address; to: Address; calldata: Hex }): Simulation {
    if (faults.strike("a simulation reverts for no reason", 0.02))
      return { kind: "reverts", reason: "no reason is given" };
    const { gas, result } = runTransaction(
      copyOf(head.state.protocol),
      { from: lower(from), to, calldata },
      head.timestamp + 1,
    );
    if (gas > maxGasOf(maxRows)) return { kind: "too_large", reason: `it needs ${gas} gas` };
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
      case "BatchOutOfOrder":
        return { kind: "out_of_order", head: args[1] as Hex };
      case "ChargeUnexplained":
        return { kind: "row_breaks", payer: args[0] as Address };
      default:
        return { kind: "reverts", reason: error };
    }
  }

  function accept(transaction: Transaction): SendOutcome {
    const { head } = blocks.newest();
    const own = blocks.mempoolOf(transaction.from);
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
      return rng.pick([{ kind: "already_known" }, { kind: "nonce_too_low" }, { kind: "fee_too_low" }] as const);
    }
    return outcome;
  }

  const ask = async <T>(question: () => T | Promise<T>): Promise<T> => {
    if (faults.strike("an endpoint fails", 0.02)) throw unavailable("an endpoint failed");
    return question();
  };

  // The chain through these endpoints, as one process with a clock of its own sees it.
  function connect(clock: Required<Clock>): Chain {
    const rank = createHeadRanking();
    let best: Endpoint | undefined = endpoints[0];
    let ranking: Ranking | null = null;

    const view = () => {
      const seen = viewOf(best as Endpoint);
      if (seen !== blocks.newest() || blocks.shown.length <= MAX_LAG_HEADS) return seen;
      return faults.strike("a replica lags", 0.05)
        ? (blocks.shown.at(-1 - rng.between(1, MAX_LAG_HEADS)) as View)
        : seen;
    };

    const stateAt = (at: "latest" | BlockName): State => {
      const seen = view();
      const block = at === "latest" ? seen.head : blocks.blockAt(seen, Number(at.number));
      if (block === null || (at !== "latest" && block.hash !== at.hash))
        throw unavailable("it does not have this block");
      return block.state;
    };

    // As each endpoint says that has this block, what it makes up included.
    function fromEach<T>(at: BlockName, read: (state: State) => T, lie: (answer: T) => T): T[] {
      const answers = endpoints.flatMap((endpoint) => {
        const seen = endpoint === best ? view() : viewOf(endpoint);
        const block = blocks.blockAt(seen, Number(at.number));
        if (block === null || block.hash !== at.hash) return [];
        return [endpoint === lying ? lie(read(block.state)) : read(block.state)];
      });
      if (answers.length === 0) throw unavailable("no endpoint has this block");
      return answers;
    }

    const fromBest = <T>(read: (state: State) => T, lie: (answer: T) => T): T =>
      best === lying ? lie(read(stateAt("latest"))) : read(stateAt("latest"));

    // As production compares them.
    async function survey(): Promise<void> {
      const seen = endpoints.flatMap((endpoint): SeenHead[] => {
        // Whoever is alone is believed: nobody is silent beside one that is hasty, or invents.
        const isBelievable = hasty === null && inventor === null;
        if (endpoints.length > 1 && isBelievable && faults.strike("an endpoint is silent", 0.02)) return [];
        return [headOf(endpoint)];
      });
      if (seen.length === 0) throw unavailable("no endpoint answers");
      const named = (name: string) => endpoints.find((endpoint) => endpoint.name === name) as Endpoint;
      ranking = await rank(
        seen,
        { nowMs: clock.nowMs(), elapsedMs: clock.elapsedMs() },
        async (name, number) => blocks.blockAt(viewOf(named(name)), Number(number))?.hash ?? null,
      );
      best = named(ranking.order[0] ?? "");
    }

    const chain: Chain = {
      chainId: CHAIN_ID,
      router,
      insurance,
      // Nobody contests anything here.
      court: null,
      settledAndContested: (fromBlock, toBlock) =>
        ask(() => {
          const batches = settledIn(view(), Number(fromBlock), Number(toBlock));
          const shown = best === lying ? batches.filter(() => liar?.leavesOut() !== true) : batches;
          return { batches: shown, contests: [] };
        }),
      contestOf: async () => ({ stage: "none", untilMs: 0 }),
      progressOf: async () => ({ linesHash: NO_HASH, lastLeaf: NO_HASH }),
      head: () =>
        ask(async () => {
          await survey();
          const { head } = view();
          return { ...nameOf(head), baseFeePerGas: head.baseFeePerGas, maxGas: MAX_GAS };
        }),
      finalized: () =>
        ask(async () => {
          await survey();
          if (ranking === null || "unknown" in ranking.finalized) throw unavailable("nobody can say what is final");
          return ranking.finalized;
        }),
      blockHash: (number, below) =>
        ask(() => {
          const seen = view();
          if (below !== undefined && blocks.blockAt(seen, Number(below.number))?.hash !== below.hash) {
            throw unavailable("it does not have the block above");
          }
          return blocks.blockAt(seen, Number(number))?.hash ?? null;
        }),
      receipt: (txHash) => ask(() => shownBy(best, view(), txHash)),
      // As production compares them.
      finalReceipt: (txHash) =>
        ask(() => {
          const answers = endpoints.map((endpoint) => {
            const seen = endpoint === best ? view() : viewOf(endpoint);
            return { seen, receipt: shownBy(endpoint, seen, txHash) };
          });
          const shown = answers.flatMap(({ receipt }) => receipt ?? []);
          const [first, ...others] = shown;
          if (first === undefined) return null;
          if (others.some((other) => saidBy(other) !== saidBy(first)))
            return { differs: "endpoints show different receipts" };
          const denied = answers.some(
            ({ seen, receipt }) =>
              receipt === null && blocks.blockAt(seen, Number(first.blockNumber))?.hash === first.blockHash,
          );
          return { ...first, isAgreed: !denied };
        }),
      // As the router's digest of it decides.
      calldataOf: (txHash, _, brought) =>
        ask(() => {
          const calldata = calldataOf(txHash);
          return brought === undefined || calldata === null || brought === calldata ? calldata : "hidden";
        }),
      receiptOfBatch: (batchId) => ask(() => receiptOfRootIn(view(), batchId)),
      nonce: (account, at) =>
        ask(async () => {
          const read = (state: State) => nonceOf(state, lower(account));
          const lie = (nonce: number) => liar?.nonce(nonce) ?? nonce;
          if (at === "latest") return fromBest(read, lie);
          if (at !== "shared") return Math.min(...fromEach(at, read, lie));
          // As production does it.
          await survey();
          const shared = ranking?.shared ?? null;
          if (shared === null) throw unavailable("no endpoint is fresh");
          const answers = fromEach(shared.block, read, lie);
          if (answers.length < Math.min(2, shared.endpoints))
            throw unavailable("too few endpoints have the shared block");
          return Math.min(...answers);
        }),
      settledAt: (batchId, at) =>
        ask(() => {
          const read = (state: State) => state.protocol.settledAt.get(batchId) ?? 0n;
          const lie = (time: bigint) => liar?.settledAt(time) ?? time;
          return at === "latest" ? fromBest(read, lie) : (fromEach(at, read, lie).find((time) => time !== 0n) ?? 0n);
        }),
      headOf: (operator) =>
        ask(() =>
          fromBest(
            ({ protocol }) => protocol.heads.get(lower(operator)) ?? NO_BATCH,
            (head) => liar?.headOf(head) ?? head,
          ),
        ),
      operatorLimit: (operator) =>
        ask(() => {
          const { state, timestamp } = view().head;
          const limit = state.protocol.operatorLimits.get(lower(operator)) ?? limitOf(0n);
          return { limit: limit.cap, left: leftOf(limit, BigInt(timestamp)), bonded: true };
        }),
      maySettle: (operator, at) =>
        ask(() =>
          fromEach(
            at,
            ({ protocol }) => (protocol.operatorLimits.get(lower(operator))?.cap ?? 0n) > 0n,
            (may) => may,
          ).some((may) => may),
        ),
      // Its token is no proxy.
      tokenImplementation: async () => null,
      availability: () =>
        ask(() => {
          const { tokenPaused, routerPaused, blacklisted } = blocks.newest().head.state.protocol;
          if (tokenPaused) return { kind: "unavailable", reason: "USDC is paused" } as const;
          if (blacklisted.has(router))
            return { kind: "unavailable", reason: "USDC has blacklisted the router" } as const;
          if (routerPaused) return { kind: "unavailable", reason: "the router is paused" } as const;
          return { kind: "available" } as const;
        }),
      balance: (account) => ask(() => stateAt("latest").funds.get(lower(account)) ?? 0n),
      priorityFee: () => ask(() => PRIORITY_FEE),
      simulate: (call) => ask(() => simulate(view(), call)),
      isSigned: ({ signer, digest, signature }) =>
        ask(() => hasSigned(stateAt("latest").protocol, lower(signer), digest, signature)),
      // In production whoever asks this has ticks as well, which compare the endpoints all the time.
      spendable: (payers, budgets = []) =>
        ask(async () => {
          await survey();
          const seen = view();
          return payers.map((payer) => spendableIn(seen, payer, budgets));
        }),
      spendableByEach: async (payers, budgets) =>
        endpoints
          .filter(({ name }) => ranking?.standings.get(name)?.kind === "fresh")
          .map((endpoint) =>
            payers.map((payer) => {
              const seen = viewOf(endpoint);
              return { ...spendableIn(seen, payer, budgets), refunding: refundIn(seen.head.state, payer).amount };
            }),
          ),
      refunds: (payers) =>
        ask(() => {
          const state = stateAt("latest");
          return payers.map((payer) => refundIn(state, payer));
        }),
      listings: (toolIds) =>
        ask(() => {
          const { tools } = stateAt("latest").protocol;
          return toolIds.map((toolId) => {
            const tool = tools.get(toolId);
            if (tool === undefined) return null;
            const { price, stake } = tool;
            return {
              price: microUsdc(price),
              stake: microUsdc(stake),
              maxPrice: microUsdc(stake / STAKE_MULTIPLIER),
            };
          });
        }),
      stakes: (toolIds) =>
        ask(() => {
          const read = ({ protocol }: State) => toolIds.map((toolId) => protocol.tools.get(toolId)?.stake ?? 0n);
          const shared = ranking?.shared?.block;
          const [first = [], ...others] =
            shared === undefined ? [read(stateAt("latest"))] : fromEach(shared, read, (answer) => answer);
          return first.map((stake, i) => (others.every((other) => other[i] === stake) ? microUsdc(stake) : null));
        }),
      credits: (accounts) =>
        ask(() => {
          const { credits } = stateAt("latest").protocol;
          return accounts.map((account) => microUsdc(credits.get(lower(account)) ?? 0n));
        }),
      send: async (raw) => send(raw),
      // One that shows them all is enough, and the one that leaves some out is never asked alone.
      settledBatches: (fromBlock, toBlock) => ask(() => settledIn(view(), Number(fromBlock), Number(toBlock))),
    };
    return chain;
  }

  function spendableIn({ head }: View, payer: Address, budgets: readonly BudgetKey[]): Spendable {
    const { number, state, timestamp } = head;
    const own = budgets.filter((key) => lower(key.payer) === lower(payer));
    return {
      ...spendableOf(state.protocol, lower(payer), BigInt(timestamp)),
      payer,
      atBlock: BigInt(number),
      budgets: new Map(own.map(({ id }) => [id, budgetOf(state.protocol, lower(payer), id)])),
    };
  }

  function refundIn({ protocol }: State, payer: Address) {
    const { balance, refunding, readyAt } = prepaidOf(protocol, lower(payer));
    return { amount: microUsdc(smaller(balance, refunding)), readyAt };
  }

  function settledIn(seen: View, from: number, to: number): SettledBatch[] {
    if (blocks.blockAt(seen, to) === null) throw unavailable("it does not have the last block");
    const found: SettledBatch[] = [];
    for (let number = from; number <= to; number++) {
      for (const { batchId, transaction } of blocks.blockAt(seen, number)?.transactions ?? []) {
        const { from: operator, hash: txHash } = transaction;
        if (batchId !== null) found.push({ batchId, operator, txHash, blockNumber: BigInt(number) });
      }
    }
    return found;
  }

  // The next one that stands still, for so many blocks. One always goes on, or there would be no chain to see.
  function standStill(lasts: number): void {
    const moving = endpoints.filter(({ still }) => still === null);
    const [endpoint] = rng.shuffled(moving.filter((one) => one !== hasty || hasty === null));
    const honest = moving.filter((one) => one !== hasty && one !== lying && one !== inventor);
    // Beside one that invents blocks two must be left that outvote it.
    if (endpoint === undefined || honest.length < (inventor === null ? 2 : 3)) return;
    faults.trace(`${endpoint.name} stands still`);
    stalls += 1;
    endpoint.still = blocks.newest();
    endpoint.until = blocks.newest().head.number + lasts;
  }

  function wakeUp(): void {
    for (const endpoint of endpoints) if (endpoint.until <= blocks.newest().head.number) endpoint.still = null;
  }

  // All go on from now on, and keep up, but for the first if it is never repaired.
  function repair(allBut: boolean): void {
    for (const endpoint of endpoints) endpoint.still = null;
    const [first] = endpoints;
    if (!allBut || first === undefined) return;
    stalls += 1;
    first.still = blocks.newest();
  }

  return {
    connect,
    standStill,
    stall,
    wakeUp,
    repair,
    // Whether one of them does when the sequencer stands still.
    invents: () => inventor !== null,
    stalls: () => stalls,
    lies: (): ReadonlyMap<string, number> =>
      new Map([...(liar?.told() ?? []), ...(outruns > 0 ? [[INVENTION, outruns] as const] : [])]),
    // Whether one of them has made a receipt up.
    hasMadeUp: (txHash: Hex) => liar?.hasMadeUp(txHash) ?? false,
    // Whether a node has ever denied a receipt that it should have had.
    wasWithheld: (txHash: Hex) => withheld.has(txHash),
  };
}

// What a receipt says that anything hangs on.
const saidBy = ({ blockHash, status, batches }: TxReceipt) =>
  JSON.stringify([blockHash, status, [...batches]], (_, value) => (typeof value === "bigint" ? `${value}` : value));

const unavailable = (reason: string) => new SettlementError("chain_unavailable", reason, { retryable: true });
