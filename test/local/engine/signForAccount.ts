import { concat, TypedDataEncoder, toBeHex, toUtf8Bytes, ZeroHash } from "ethers";
import type { Address, Hex } from "viem";
import type { KeyedAccount } from "../../../scripts/world/parties.ts";
import type { BudgetDomain } from "../../../settlement/chain/router/budgetDigest.ts";
import { BUDGET_TYPES, budgetDomain } from "../../../settlement/chain/router/budgetDigest.ts";
import type { Budget, SignedBudget } from "../../../settlement/domain/budget.ts";

const BUDGET = { Budget: [...BUDGET_TYPES.Budget] };

// ERC-7739: the key of a smart account signs what the account is asked about together with the account.
const NESTED = {
  TypedDataSign: [
    { name: "contents", type: "Budget" },
    { name: "name", type: "string" },
    { name: "version", type: "string" },
    { name: "chainId", type: "uint256" },
    { name: "verifyingContract", type: "address" },
    { name: "salt", type: "bytes32" },
  ],
  ...BUDGET,
};

// A budget of OpenZeppelin's smart account, signed by its owner.
export async function signForAccount(owner: KeyedAccount, domain: BudgetDomain, budget: Budget): Promise<SignedBudget> {
  const { payer, id, maxSpend, validUntil, tools } = budget;
  const contents = { payer, id, maxSpend, validUntil, tools: [...tools] };
  const own = budgetDomain(domain);
  const signature = await owner.signTypedData(own, NESTED, {
    contents,
    name: "SmartAccount",
    version: "1",
    chainId: domain.chainId,
    verifyingContract: payer as Address,
    salt: ZeroHash,
  });
  const type = TypedDataEncoder.from(BUDGET).encodeType("Budget");
  return {
    ...budget,
    signature: concat([
      signature,
      TypedDataEncoder.hashDomain(own),
      TypedDataEncoder.from(BUDGET).hash(contents),
      toUtf8Bytes(type),
      toBeHex(type.length, 2),
    ]) as Hex,
  };
}
