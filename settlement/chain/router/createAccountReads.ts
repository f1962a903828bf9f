import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, type PublicClient } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import { microUsdc } from "../../domain/money.ts";
import type { BudgetKey, BudgetOnChain } from "../../domain/payer/budget.ts";
import { byHash } from "../blocks/createBlockReads.ts";
import type { Chain, Refund, Spendable } from "../chain.ts";
import { chunksOf, createRpcClient, MULTICALL, QUESTIONS_PER_MULTICALL } from "../rpc/createRpcClient.ts";
import type { Endpoints } from "../rpc/endpoints.ts";
import { onlyFrom } from "../rpc/onlyFrom.ts";
import type { Ranking } from "../rpc/rankHeads.ts";
import { routerAbi } from "./abi.ts";

export type AccountReads = Pick<
  Chain,
  | "nonce"
  | "balance"
  | "headOf"
  | "operatorLimit"
  | "maySettle"
  | "spendable"
  | "spendableByEach"
  | "refunds"
  | "credits"
>;

// So many payers' balances, allowances and caps stay far below the gas that providers give a read.
const PAYERS_PER_READ = 200;
// What a multicall without a contract returns is limited to the size of a contract's code.
const STRUCTS_PER_MULTICALL = 60;
// So many must say what nobody is believed about alone, if so many are healthy.
export const SUPPORTED_BY = 2;
const QUANTITY = /^0x[0-9a-f]+$/i;

// What operators, payers and payees have.
export function createAccountReads(options: {
  endpoints: Endpoints;
  client: PublicClient;
  router: Address;
  // What several endpoints say of the chain, compared; null where there is nothing to compare.
  survey: () => Promise<Ranking | null>;
}): AccountReads {
  const { endpoints, client, router, survey } = options;
  return {
    // A nonce that is spent for good sets free what was signed on it, and ends a fence. So every endpoint is asked, and the least that
    // one of them says counts: a node that lies, or answers for another block, can make us wait, and nobody pay twice.
    async nonce(account, at) {
      if (at === "latest") return client.getTransactionCount({ address: account });
      const compared = at === "shared" ? await survey() : null;
      const shared = compared?.shared ?? null;
      // An endpoint that stands alone is asked at a block as well: behind one address there may be nodes of different heights.
      const alone = at === "shared" && compared === null ? await client.getBlock() : null;
      const block = at === "shared" ? (shared?.block ?? alone) : at;
      if (block === null) throw unavailable("no endpoint is fresh");
      const question = [account, byHash(block)];
      const answers = await Promise.all(endpoints.askAll("eth_getTransactionCount", question));
      const nonces = answers.flatMap((answer) =>
        answer.kind === "result" && QUANTITY.test(String(answer.result)) ? [Number(answer.result)] : [],
      );
      // A reorg may have left the block of whoever is behind, and another one may be silent.
      if (shared !== null && nonces.length < Math.min(SUPPORTED_BY, shared.endpoints)) {
        throw unavailable(`too few endpoints have block ${shared.block.number}, which all of them should have`);
      }
      // If nobody answers at once, the read tries again and says what is wrong.
      if (nonces.length === 0) return Number(await endpoints.read("eth_getTransactionCount", question));
      return Math.min(...nonces);
    },

    balance: (account) => client.getBalance({ address: account }),

    headOf: (operator) =>
      client.readContract({ address: router, abi: routerAbi, functionName: "headOf", args: [operator] }),

    operatorLimit: (operator) => readOperatorLimit(client, router, operator),

    // What was signed with a key that may settle nothing is given up, so that a node which lags or lies must not be the only one to
    // say so.
    async maySettle(operator, at) {
      const question = { abi: routerAbi, functionName: "operatorLimit" } as const;
      const data = encodeFunctionData({ ...question, args: [operator] });
      const asked = [{ to: router, data }, byHash(at)];
      const answers = await Promise.all(endpoints.askAll("eth_call", asked));
      const results = answers.flatMap((answer) => (answer.kind === "result" ? [answer.result as Hex] : []));
      // If nobody answers at once, the read tries again and says what is wrong.
      if (results.length === 0) results.push((await endpoints.read("eth_call", asked)) as Hex);
      return results.some((result) => decodeFunctionResult({ ...question, data: result })[0] > 0n);
    },

    // At a block that is named, so that it is known how old the answer is.
    spendable: (payers, budgets = []) =>
      endpoints.fromOne((read) => readSpendable(createRpcClient({ read }), router, payers, budgets)),

    async spendableByEach(payers, budgets) {
      // What a stale one says was so once.
      const standings = (await survey())?.standings ?? new Map();
      const fresh = endpoints.names.filter((name) => standings.get(name)?.kind === "fresh");
      const asked = fresh.map(async (name) => {
        const one = onlyFrom(endpoints, name);
        const found = await readSpendable(one, router, payers, budgets);
        const refunds = await readRefunds(one, router, payers);
        return found.map((spendable, i) => ({ ...spendable, refunding: refunds[i]?.amount ?? microUsdc(0n) }));
      });
      const answers = await Promise.allSettled(asked);
      return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    },

    refunds: (payers) => readRefunds(client, router, payers),

    async credits(accounts) {
      const results: bigint[] = [];
      for (const some of chunksOf(accounts, QUESTIONS_PER_MULTICALL)) {
        const read = await client.multicall({
          contracts: some.map(
            (account) => ({ address: router, abi: routerAbi, functionName: "creditOf", args: [account] }) as const,
          ),
          ...MULTICALL,
        });
        results.push(...read);
      }
      return results.map(microUsdc);
    },
  };
}

const unavailable = (reason: string) => new SettlementError("chain_unavailable", reason, { retryable: true });

async function readSpendable(
  one: PublicClient,
  router: Address,
  payers: readonly Address[],
  budgets: readonly BudgetKey[],
): Promise<Spendable[]> {
  const results: Spendable[] = [];
  const { number: atBlock, timestamp } = await one.getBlock();
  const known = await readBudgets(one, router, budgets, atBlock);
  for (const some of chunksOf(payers, PAYERS_PER_READ)) {
    const read = await one.readContract({
      address: router,
      abi: routerAbi,
      functionName: "spendableMany",
      args: [some],
      blockNumber: atBlock,
    });
    for (const [i, payer] of some.entries()) {
      const own = known.get(payer.toLowerCase()) ?? new Map();
      results.push({ payer, atBlock, timestamp, ...spendableOf(payer, read[i]), budgets: own });
    }
  }
  return results;
}

// By payer and id.
async function readBudgets(one: PublicClient, router: Address, budgets: readonly BudgetKey[], blockNumber: bigint) {
  const known = new Map<string, Map<bigint, BudgetOnChain>>();
  for (const some of chunksOf(budgets, STRUCTS_PER_MULTICALL)) {
    const read = await one.multicall({
      contracts: some.map(
        ({ payer, id }) => ({ address: router, abi: routerAbi, functionName: "budgetOf", args: [payer, id] }) as const,
      ),
      blockNumber,
      ...MULTICALL,
    });
    for (const [i, [budget, toolsHash]] of read.entries()) {
      const { payer, id } = some[i] as BudgetKey;
      const own = known.get(payer.toLowerCase()) ?? new Map<bigint, BudgetOnChain>();
      known.set(payer.toLowerCase(), own.set(id, onChain(budget, toolsHash)));
    }
  }
  return known;
}

async function readRefunds(client: PublicClient, router: Address, payers: readonly Address[]): Promise<Refund[]> {
  const results: Refund[] = [];
  for (const some of chunksOf(payers, STRUCTS_PER_MULTICALL)) {
    const read = await client.multicall({
      contracts: some.map(
        (payer) => ({ address: router, abi: routerAbi, functionName: "prepaidOf", args: [payer] }) as const,
      ),
      ...MULTICALL,
    });
    // A request may be for more than was left by what was drawn meanwhile.
    for (const { balance, refunding, readyAt } of read) {
      results.push({ amount: microUsdc(BigInt(Math.min(refunding, balance))), readyAt: BigInt(readyAt) });
    }
  }
  return results;
}

// What an operator may settle in 24 hours, how much of that is left, and whether its bond lets it; zero for who is no operator.
export async function readOperatorLimit(client: PublicClient, router: Address, operator: Address) {
  const question = { address: router, abi: routerAbi, functionName: "operatorLimit", args: [operator] } as const;
  const [limit, left, bonded] = await client.readContract(question);
  return { limit, left, bonded };
}

type SpendableRead = Pick<Spendable, "allowance" | "dailyCapLeft" | "consentRequired"> & {
  amount: bigint;
  balance: bigint;
  prepaid: bigint;
};

function spendableOf(payer: Address, read: SpendableRead | undefined) {
  if (read === undefined) throw new RangeError(`the router left out ${payer}`);
  const { amount, balance, allowance, dailyCapLeft, prepaid, consentRequired } = read;
  return {
    amount: microUsdc(amount),
    balance: microUsdc(balance),
    allowance,
    dailyCapLeft,
    prepaid: microUsdc(prepaid),
    consentRequired,
  };
}

type BudgetRead = { maxSpend: number; spent: number; validUntil: number; endsAt: number };

function onChain({ maxSpend, spent, validUntil, endsAt }: BudgetRead, toolsHash: Hex): BudgetOnChain {
  return {
    maxSpend: microUsdc(BigInt(maxSpend)),
    spent: microUsdc(BigInt(spent)),
    validUntil: BigInt(validUntil),
    endsAt: BigInt(endsAt),
    toolsHash,
  };
}
