import { z } from "zod";
import type { ToolListing } from "../chain/inspectChain.ts";
import type { Earning } from "../domain/charges/statement.ts";
import { formatUsd } from "../domain/money.ts";
import { uuidFromToolId } from "../domain/toolId.ts";
import type { ToolEarnings } from "../ledger/ledger.ts";
import { address, count, hash, time, timeOf, toolId as toolIdShape, usd } from "./shapes.ts";

export const earningSchema = z
  .object({ settledAt: time, batchId: hash, txHash: hash, toolId: toolIdShape, amountUsd: usd, developerShareUsd: usd })
  .meta({ id: "Earning" });

export function earningView(earning: Earning): z.infer<typeof earningSchema> {
  return {
    settledAt: timeOf(earning.settledAtMs),
    batchId: earning.batchId,
    txHash: earning.txHash,
    toolId: uuidFromToolId(earning.toolId),
    amountUsd: formatUsd(earning.amount),
    developerShareUsd: formatUsd(earning.developerShare),
  };
}

export const toolSchema = z
  .object({ toolId: toolIdShape, name: z.string().nullable(), batches: count, settledUsd: usd, developerShareUsd: usd })
  .meta({ id: "Tool" });

export type ToolView = z.infer<typeof toolSchema>;

// Null for a tool that the platform has given no name.
export function toolView({ toolId, batches, amount, developerShare }: ToolEarnings, name: string | null): ToolView {
  return {
    toolId: uuidFromToolId(toolId),
    name,
    batches,
    settledUsd: formatUsd(amount),
    developerShareUsd: formatUsd(developerShare),
  };
}

const listingSchema = z
  .object({
    owner: address,
    payee: address,
    priceUsd: usd,
    stakeUsd: usd,
    requiredStakeUsd: usd,
    withdrawingUsd: usd,
    // Otherwise the router refuses its lines and nobody is charged for them.
    isPaid: z.boolean(),
  })
  .meta({ id: "Listing" });

export function listingView(listing: ToolListing): z.infer<typeof listingSchema> {
  const { owner, payee, price, stake, requiredStake, withdrawing } = listing;
  return {
    owner,
    payee,
    priceUsd: formatUsd(price),
    stakeUsd: formatUsd(stake),
    requiredStakeUsd: formatUsd(requiredStake),
    withdrawingUsd: formatUsd(withdrawing),
    isPaid: stake >= requiredStake,
  };
}

// Null for a tool that the registry does not know.
export const toolRowSchema = toolSchema.extend({ listing: listingSchema.nullable() }).meta({ id: "ToolRow" });

export type ToolRow = z.infer<typeof toolRowSchema>;
