import type { ChainInspection } from "../../../chain/inspectChain.ts";
import { microUsdc } from "../../../domain/money.ts";
import type { ToolId } from "../../../domain/toolId.ts";
import type { Ledger, ToolEarnings } from "../../../ledger/ledger.ts";
import { listingView, type ToolRow, toolView } from "../../../views/tool.ts";

export type ToolsSource = { ledger: Ledger; inspection: Pick<ChainInspection, "tools"> };

// A tool that was refused has earned nothing, and is found in the newest batches instead.
const BATCHES_LOOKED_THROUGH = 50;
const MAX_NAMES = 1_000;

// What tools have earned in final batches, and how they stand in the registry now. Behind the first page of those come the
// ones that have earned nothing: refused, or named by the platform and not used yet.
export async function readTools(
  { ledger, inspection }: ToolsSource,
  limit: number,
  offset: number,
): Promise<ToolRow[]> {
  const [earned, batches, named] = await Promise.all([
    ledger.listToolEarnings(limit, offset),
    offset === 0 ? ledger.listBatches(BATCHES_LOOKED_THROUGH, 0) : [],
    ledger.listToolNames(MAX_NAMES),
  ]);
  const names = new Map(named.map(({ toolId, name }) => [toolId, name]));
  const known = new Set(earned.map(({ toolId }) => toolId));
  const refused = batches.flatMap(({ outcome }) => outcome?.refused.map(({ toolId }) => toolId) ?? []);
  const others = offset === 0 ? new Set([...refused, ...names.keys()]) : [];
  const unpaid = await Promise.all(
    [...others].filter((toolId) => !known.has(toolId)).map((toolId) => earningsOf(ledger, toolId)),
  );
  const tools = [...earned, ...unpaid];
  const listings = await inspection.tools(tools.map(({ toolId }) => toolId));
  return tools.map((tool, i) => {
    const listing = listings[i] ?? null;
    return {
      ...toolView(tool, names.get(tool.toolId) ?? null),
      listing: listing === null ? null : listingView(listing),
    };
  });
}

const NOTHING = microUsdc(0n);

export async function earningsOf(ledger: Ledger, toolId: ToolId): Promise<ToolEarnings> {
  return (await ledger.findToolEarnings(toolId)) ?? { toolId, batches: 0, amount: NOTHING, developerShare: NOTHING };
}
