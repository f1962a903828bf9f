import { type Address, ContractFunctionExecutionError, type PublicClient, zeroAddress } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import { settlementErrorIn } from "../rpc/answered.ts";
import { bondsAbi, routerAbi, stakingAbi } from "./abi.ts";

// Reads what the service relies on, so that a wrong address fails here and not with the first batch.
export async function verifyRouter(
  client: PublicClient,
  chainId: number,
  router: Address,
): Promise<{ insurance: Address; usdc: Address; staking: Address; court: Address | null }> {
  const code = await client.getCode({ address: router });
  if (code === undefined) {
    throw new SettlementError("chain_mismatch", `there is no contract at ${router} on chain ${chainId}`);
  }
  try {
    const [staking, usdc] = await Promise.all([
      client.readContract({ address: router, abi: routerAbi, functionName: "staking" }),
      client.readContract({ address: router, abi: routerAbi, functionName: "usdc" }),
    ]);
    const insurance = await client.readContract({ address: staking, abi: stakingAbi, functionName: "insurance" });
    return { insurance, usdc, staking, court: await courtOf(client, router) };
  } catch (error) {
    if (settlementErrorIn(error)) throw error;
    throw new SettlementError(
      "invalid_config",
      `the contract at ${router} on chain ${chainId} is not a ContextRouter: it does not name its token, its stake ` +
        "registry and its insurance account",
      { cause: error },
    );
  }
}

// Where what this router's operators have charged is contested. A router of before there were bonds has no such court.
async function courtOf(client: PublicClient, router: Address): Promise<Address | null> {
  try {
    const bonds = await client.readContract({ address: router, abi: routerAbi, functionName: "bonds" });
    const court = await client.readContract({ address: bonds, abi: bondsAbi, functionName: "court" });
    return court === zeroAddress ? null : court;
  } catch (error) {
    // What an endpoint could not answer is not a router that has no court.
    if (settlementErrorIn(error) || !(error instanceof ContractFunctionExecutionError)) throw error;
    return null;
  }
}
