import { concat, type Signer, type TypedDataDomain, TypedDataEncoder, toBeHex, toUtf8Bytes, ZeroHash } from "ethers";
import type { Hex } from "viem";
import { BUDGET_TYPES } from "../../settlement/chain/router/budgetDigest.ts";

export const BUDGET = { Budget: [...BUDGET_TYPES.Budget] };

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

type Contents = { payer: string; id: bigint; maxSpend: bigint; validUntil: bigint; tools: string[] };

// ERC-7739: the key of a smart account signs what the account is asked about together with the account, so that the same key's
// signature says nothing for another account. This one is OpenZeppelin's, and on the chain `chainId`.
export async function signNested(
  key: Signer,
  domain: TypedDataDomain,
  contents: Contents,
  chainId: bigint,
): Promise<Hex> {
  const signature = await key.signTypedData(domain, NESTED, {
    contents,
    name: "SmartAccount",
    version: "1",
    chainId,
    verifyingContract: contents.payer,
    salt: ZeroHash,
  });
  const type = TypedDataEncoder.from(BUDGET).encodeType("Budget");
  return concat([
    signature,
    TypedDataEncoder.hashDomain(domain),
    TypedDataEncoder.from(BUDGET).hash(contents),
    toUtf8Bytes(type),
    toBeHex(type.length, 2),
  ]) as Hex;
}
