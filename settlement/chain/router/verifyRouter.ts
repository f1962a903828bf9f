import type { Address, PublicClient } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import { settlementErrorIn } from "../rpc/answered.ts";
import { routerAbi, stakingAbi } from "./abi.ts";

// Reads what the service relies on, so that a wrong address fails here and not with the first batch.
export async function verifyRouter(
  client: PublicClient,
  chainId: number,
  router: Address,
): Promise<{ insurance: Address; usdc: Address; staking: Address }> {
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
    return { insurance, usdc, staking };
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
