import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import type { ListedTool } from "../command/findTool.ts";
import type { Deployment } from "../command/openDeployment.ts";
import { readLogs } from "../command/readLogs.ts";
import type { Session } from "../command/session.ts";

export type ToolStatus = {
  tool: string;
  owner: string;
  payout: string;
  priceUsd: string;
  stakeUsd: string;
  requiredStakeUsd: string;
  payable: boolean;
  earnedUsd: string;
  claimableUsd: string;
  withdrawal: { amountUsd: string; readyAt: number } | null;
  slash: { executableAt: number; expiresAt: number } | null;
};

// Everything that a developer asks about a tool.
export async function describeTool(
  { provider }: Session,
  { staking, router, record }: Deployment,
  { id, uuid, listing }: ListedTool,
): Promise<ToolStatus> {
  const event = router.interface.getEvent("ToolPaid");
  const topics = router.interface.encodeFilterTopics(event, [null, id]);
  const [required, credit, slash, payments] = await Promise.all([
    staking.requiredStake(listing.price),
    router.creditOf(listing.payout),
    staking.slashOf(id),
    readLogs(provider, record.contracts.router.address, topics, record.contracts.router.block),
  ]);
  const earned = payments.reduce(
    (sum, log) => sum + router.interface.decodeEventLog(event, log.data, log.topics).developerShare,
    0n,
  );
  const usd = (value: bigint) => formatUsd(microUsdc(value));
  return {
    tool: uuid,
    owner: listing.owner,
    payout: listing.payout,
    priceUsd: usd(listing.price),
    stakeUsd: usd(listing.stake),
    requiredStakeUsd: usd(required),
    payable: listing.stake >= required,
    earnedUsd: usd(earned),
    claimableUsd: usd(credit),
    withdrawal:
      listing.readyAt === 0n ? null : { amountUsd: usd(listing.withdrawing), readyAt: Number(listing.readyAt) },
    slash:
      slash.expiresAt === 0n ? null : { executableAt: Number(slash.executableAt), expiresAt: Number(slash.expiresAt) },
  };
}
