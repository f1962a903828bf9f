import type { Address } from "viem";
import { ApiError } from "../../../settlement/daemon/http/errors.ts";
import { formatUsd, type MicroUsdc, microUsdc, sumOf } from "../../../settlement/domain/money.ts";
import { readPreferences } from "../../accounts/preferences.ts";
import type { Store } from "../../database/openStore.ts";
import type { Catalogue, Found } from "../../discovery/createCatalogue.ts";
import { isOffered, isQueryEligible } from "../../registry/listing.ts";
import type { SignedBudget } from "../../settlement/signedBudget.ts";
import { readQuestion } from "../planner/readQuestion.ts";
import { searchTextOf } from "../planner/searchTextOf.ts";
import type { QueryRequest } from "../wire/request.ts";

export type Selection = {
  found: readonly Found[];
  isManual: boolean;
  // Tools that were found and cost more than the turn may.
  filteredOut: readonly Found[];
  // The most that its tools can cost, which is looked at before the turn begins and never exceeded.
  bound: MicroUsdc;
};

// What a turn may cost where neither the caller nor the account says anything else.
export const DEFAULT_MAX_COST = microUsdc(1_000_000n);
const MAX_FOUND = 8;
// Of the listings that were found a turn uses one or a few.
const MAX_USED = 3;

export type SelectOptions = { store: Store; catalogue: Catalogue };

// The tools of a turn: those that were named, or those that a search finds for the question. Everything about them that can be
// refused is refused here, before there is a job.
export async function selectTools(
  { store, catalogue }: SelectOptions,
  account: Address,
  request: QueryRequest,
  earlierTools: readonly string[],
  modelCost: MicroUsdc,
  nowMs: number,
): Promise<Selection> {
  const { favoritesOnly, favorites, maxQueryCost } = await readPreferences(store.read, account);
  const maxTotal = request.maxCost ?? maxQueryCost ?? DEFAULT_MAX_COST;
  if (maxTotal < modelCost) {
    throw new ApiError(
      "invalid_request",
      `the bound maxCostUsd is ${formatUsd(maxTotal)}, and the model alone may cost ${formatUsd(modelCost)}`,
    );
  }
  const maxCost = microUsdc(maxTotal - modelCost);
  const isCovered = coveredBy(request.signed);
  if (request.tools !== null) return named(catalogue, request.tools, maxCost, isCovered);

  const among = (request.favoritesOnly ?? favoritesOnly) ? new Set(favorites) : undefined;
  const text = searchTextOf(readQuestion(request.query, nowMs));
  const searched =
    text === "" ? [] : catalogue.search({ text, limit: MAX_FOUND, wants: isQueryEligible, ...(among && { among }) });
  // What an earlier attempt of the session used is known to be about it, and comes first.
  const used = (await Promise.all(earlierTools.map((toolId) => catalogue.find(toolId)))).flatMap((listing): Found[] =>
    listing !== null && isOffered(listing) ? [{ listing, methods: listing.methods.filter(isQueryEligible) }] : [],
  );
  const known = new Set(used.map(({ listing }) => listing.toolId));
  const found = [...used, ...searched.filter(({ listing }) => !known.has(listing.toolId))].filter(({ listing }) =>
    isCovered(listing.toolId),
  );
  const affordable = found.filter(({ listing }) => listing.price <= maxCost);
  const prices = affordable.map(({ listing }) => listing.price).sort((a, b) => Number(b - a));
  return {
    found: affordable,
    isManual: false,
    filteredOut: found.filter(({ listing }) => listing.price > maxCost),
    bound: lesser(maxCost, sumOf(prices.slice(0, MAX_USED))),
  };
}

// Whether what was signed for a question is for a tool: what an answer used and nobody has agreed to could never be charged.
function coveredBy(signed: SignedBudget | null): (toolId: string) => boolean {
  const tools = signed?.budget.tools ?? [];
  return (toolId) => tools.length === 0 || tools.includes(toolId);
}

async function named(
  catalogue: Catalogue,
  toolIds: readonly string[],
  maxCost: MicroUsdc,
  isCovered: (toolId: string) => boolean,
): Promise<Selection> {
  const listings = await Promise.all(
    toolIds.map(async (toolId) => ({ toolId, listing: await catalogue.find(toolId) })),
  );
  const unknown = listings.filter(({ listing }) => listing === null || !isOffered(listing)).map(({ toolId }) => toolId);
  if (unknown.length > 0) {
    throw new ApiError("invalid_request", `what is not offered here stands in tools: ${unknown.join(", ")}`);
  }
  const found = listings.flatMap(({ listing }): Found[] =>
    listing === null ? [] : [{ listing, methods: listing.methods.filter(isQueryEligible) }],
  );
  const silent = found.find(({ methods }) => methods.length === 0);
  if (silent !== undefined) {
    throw new ApiError("invalid_request", `${silent.listing.name} of tools has no method for questions`);
  }
  const uncovered = found.find(({ listing }) => !isCovered(listing.toolId));
  if (uncovered !== undefined) {
    throw new ApiError(
      "budget_tools",
      `the budget is for other tools than ${uncovered.listing.name}; sign it for all of them with a higher maxSpend, or another id for this one`,
    );
  }
  const dear = found.find(({ listing }) => listing.price > maxCost);
  if (dear !== undefined) {
    throw new ApiError(
      "invalid_request",
      `the bound maxCostUsd is ${formatUsd(maxCost)}, and ${dear.listing.name} costs ${formatUsd(dear.listing.price)}`,
    );
  }
  return {
    found,
    isManual: true,
    filteredOut: [],
    bound: lesser(maxCost, sumOf(found.map(({ listing }) => listing.price))),
  };
}

export const lesser = (one: bigint, other: bigint): MicroUsdc => microUsdc(one < other ? one : other);
