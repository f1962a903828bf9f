import type { Address } from "viem";
import { budgetDigest } from "../../../settlement/chain/router/budgetDigest.ts";
import { larger, microUsdc } from "../../../settlement/domain/money.ts";
import type { BudgetKey, SignedBudget } from "../../../settlement/domain/payer/budget.ts";
import type { ToolId } from "../../../settlement/domain/toolId.ts";
import { CHAIN_ID } from "../chain/protocol.ts";
import type { Rng } from "../rng.ts";
import { ROUTER, type Scenario, signatureOf } from "../scenario.ts";

export type Wallets = ReturnType<typeof createWallets>;

const FOR_GOOD = 2n ** 40n - 1n;

// What payers sign, and all that they ever signed. Whoever demands consent signs for everything; in the same runs others sign for
// some of what they ask for.
export function createWallets({ consenting, tools, kindPayers }: Scenario, rng: Rng, nowMs: () => number) {
  const newest = new Map<Address, SignedBudget>();
  const limits = new Map<string, bigint>();
  let ids = 0n;

  function sign(budget: Omit<SignedBudget, "signature">): SignedBudget {
    const digest = budgetDigest({ chainId: CHAIN_ID, router: ROUTER }, budget);
    const signed = { ...budget, signature: signatureOf(budget.payer, digest) };
    newest.set(budget.payer, signed);
    limits.set(nameOf(signed), signed.maxSpend);
    return signed;
  }

  // Some of what payers sign ends before it can be settled, if hours go by.
  const endOfNext = () => (kindPayers ? FOR_GOOD : BigInt(Math.floor(nowMs() / 1_000) + rng.between(150, 20_000)));

  // What a payer signs so that `amount` more is covered; null if it signs nothing for this.
  function raise(payer: Address, amount: bigint, needed: readonly ToolId[] = tools): SignedBudget | null {
    if (consenting.length === 0) return null;
    return consenting.includes(payer) || rng.happens(0.3) ? raiseBy(payer, amount, needed) : null;
  }

  function raiseBy(payer: Address, amount: bigint, needed: readonly ToolId[]): SignedBudget {
    const last = newest.get(payer);
    const validUntil = endOfNext();
    const covers = last?.tools.length === 0 || needed.every((tool) => last?.tools.includes(tool));
    if (last === undefined || rng.happens(0.25) || (!covers && rng.happens(0.7))) {
      ids += 1n;
      // Of another order than the batch's, and with some that it does not need.
      const own = rng.happens(0.3) ? rng.shuffled([...new Set([...needed, rng.pick(tools)])]) : [];
      return sign({ payer, id: ids, maxSpend: microUsdc(amount + 1n), validUntil, tools: own });
    }
    return sign({
      ...last,
      maxSpend: microUsdc(last.maxSpend + amount + 1n),
      validUntil: larger(validUntil, last.validUntil),
      // For those alone that it was for, or for all.
      tools: covers ? last.tools : [],
    });
  }

  return {
    raise,
    raiseBy,
    demandsConsent: (payer: Address) => consenting.includes(payer),
    newestOf: (payer: Address) => newest.get(payer) ?? null,
    // The payer is done with its budget: the next one has another id.
    end(payer: Address): bigint | null {
      const id = newest.get(payer)?.id ?? null;
      newest.delete(payer);
      return id;
    },
    // The most that a payer ever agreed to.
    limitOf: (key: BudgetKey) => limits.get(nameOf(key)) ?? 0n,
  };
}

const nameOf = ({ payer, id }: BudgetKey) => `${payer} ${id}`;
