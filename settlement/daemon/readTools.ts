import type { ChainInspection, ToolListing } from "../chain/inspectChain.ts";
import { formatUsd, microUsdc } from "../domain/money.ts";
import type { ToolId } from "../domain/toolId.ts";
import type { Ledger, ToolEarnings } from "../ledger/ledger.ts";
import { toolView } from "./views.ts";

export type ToolRow = Awaited<ReturnType<typeof readTools>>[number];

export type ToolsSource = { ledger: Ledger; inspection: Pick<ChainInspection, "tools"> };

// A tool that was refused has earned nothing, and is found in the newest batches instead.
const BATCHES_LOOKED_THROUGH = 50;

// What tools have earned in final batches, and how they stand in the registry now.
export async function readTools({ ledger, inspection }: ToolsSource, limit: number, offset: number) {
  const [earned, batches] = await Promise.all([
    ledger.earningsByTool(limit, offset),
    offset === 0 ? ledger.batches(BATCHES_LOOKED_THROUGH, 0) : [],
  ]);
  const known = new Set(earned.map(({ toolId }) => toolId));
  const refused = new Set(batches.flatMap(({ outcome }) => outcome?.refused.map(({ toolId }) => toolId) ?? []));
  const unpaid = await Promise.all(
    [...refused].filter((toolId) => !known.has(toolId)).map((toolId) => earningsOf(ledger, toolId)),
  );
  const tools = [...earned, ...unpaid];
  const listings = await inspection.tools(tools.map(({ toolId }) => toolId));
  return tools.map((tool, i) => ({ ...toolView(tool), listing: listingView(listings[i] ?? null) }));
}

const NOTHING = microUsdc(0n);

export async function earningsOf(ledger: Ledger, toolId: ToolId): Promise<ToolEarnings> {
  return (await ledger.earningsOfTool(toolId)) ?? { toolId, batches: 0, amount: NOTHING, developerShare: NOTHING };
}

function listingView(listing: ToolListing | null) {
  if (listing === null) return null;
  const { owner, payee, price, stake, requiredStake, withdrawing } = listing;
  return {
    owner,
    payee,
    priceUsd: formatUsd(price),
    stakeUsd: formatUsd(stake),
    requiredStakeUsd: formatUsd(requiredStake),
    withdrawingUsd: formatUsd(withdrawing),
    // Otherwise the router refuses its lines and nobody is charged for them.
    isPaid: stake >= requiredStake,
  };
}
