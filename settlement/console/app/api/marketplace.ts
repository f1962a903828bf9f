// What the marketplace says of a tool, in the words of its API. It is another origin: the daemon names it in the page and in
// the policy, and this is the only question that it is asked.
export type Listing = {
  description: string;
  category: string | null;
  totalQueries: number;
  successRate?: string;
  uptimePercent?: string;
  mcpTools: { name: string; description: string; executePriceUsd: string | null; _meta: { latencyClass: string } }[];
};

const TIMEOUT_MS = 5_000;

const marketplaceUrl = document.querySelector<HTMLMetaElement>("meta[name=marketplace]")?.content ?? "";

export const pageAtMarketplace = (toolId: string) =>
  marketplaceUrl === "" ? null : `${marketplaceUrl}/tools/${toolId}`;

// Null if there is no marketplace, if it does not know the tool, or if it does not answer.
export async function listingOf(toolId: string): Promise<Listing | null> {
  if (marketplaceUrl === "") return null;
  try {
    const url = `${marketplaceUrl}/api/v1/tools/${encodeURIComponent(toolId)}`;
    const response = await fetch(url, { credentials: "omit", signal: AbortSignal.timeout(TIMEOUT_MS) });
    return response.ok ? ((await response.json()) as Listing) : null;
  } catch {
    return null;
  }
}
