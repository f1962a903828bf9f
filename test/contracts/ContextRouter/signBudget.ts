// Budgets as payers sign them: with a key, with a smart account (ERC-1271), for here or for elsewhere.
import type { Address, Hex } from "viem";
import { budgetDomain } from "../../../settlement/chain/router/budgetDigest.ts";
import type { RowBudget } from "../../../settlement/domain/batch/batch.ts";
import type { ToolId } from "../../../settlement/domain/toolId.ts";
import { BUDGET, signNested } from "../../budgets/signNested.ts";
import { DAY, ethers, type Marketplace, type Party, time } from "../fixture.ts";

export const ID = 7n;

export type Terms = {
  maxSpend: bigint;
  validUntil?: bigint;
  tools?: string[];
  chainId?: bigint;
  router?: string;
  payer?: { address: string };
  by?: Party;
};

async function described(market: Marketplace, terms: Terms) {
  const { maxSpend, validUntil = BigInt(await time.latest()) + BigInt(DAY), tools = [] } = terms;
  const { chainId } = await ethers.provider.getNetwork();
  const router = (terms.router ?? (await market.router.getAddress())) as Address;
  const domain = budgetDomain({ chainId: Number(terms.chainId ?? chainId), router });
  const payer = (terms.payer ?? market.payer).address;
  return { domain, message: { payer, id: ID, maxSpend, validUntil, tools }, ownChainId: chainId };
}

function rowBudget(
  { maxSpend, validUntil, tools }: { maxSpend: bigint; validUntil: bigint; tools: string[] },
  signature: string,
) {
  return {
    id: ID,
    ...(tools.length > 0 && { tools: tools as ToolId[] }),
    signed: { maxSpend, validUntil, signature: signature as Hex },
  } satisfies RowBudget;
}

// A budget of the marketplace's payer as a row brings it, with what was signed; or as signed for elsewhere, or by another.
export async function signed(market: Marketplace, terms: Terms): Promise<RowBudget> {
  const { domain, message } = await described(market, terms);
  return rowBudget(message, await (terms.by ?? market.payer).signTypedData(domain, BUDGET, message));
}

// The same for a smart account, of which `by` is the key.
export async function signedFor(account: { address: string }, market: Marketplace, terms: Terms): Promise<RowBudget> {
  const { domain, message, ownChainId } = await described(market, { ...terms, payer: account });
  return rowBudget(message, await signNested(terms.by ?? market.payer, domain, message, ownChainId));
}
