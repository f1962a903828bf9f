import { createCatalogue } from "../../marketplace/discovery/createCatalogue.ts";
import { toolView } from "../../marketplace/discovery/toolView.ts";
import { wantedMethods } from "../../marketplace/discovery/wantedMethods.ts";
import { manyListings } from "./manyListings.ts";

const LISTINGS = 10_000;
const ROUNDS = 20;
const QUERIES = [
  "gas prices",
  "kalshi election",
  "crypto prices",
  "wether forecast london",
  "compare flights",
  "hyperliquid order book",
  "what does a hotel in tokyo cost at this time of the year",
  "protien",
  "stock options nasdaq",
  "translate email",
];

// Searches as the route does them, up to the text of the answer.
export function measureSearch(): { searchP50Ms: number; searchP99Ms: number; listings: number } {
  const catalogue = createCatalogue({ read: { all: () => [] } } as never);
  for (const listing of manyListings(LISTINGS)) catalogue.apply(listing);
  const wants = wantedMethods({ mode: "execute" });
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const text of QUERIES) {
      const startMs = performance.now();
      const found = catalogue.search({ text, limit: 10, ...(wants && { wants }) });
      JSON.stringify(found.map(({ listing, methods }) => toolView(listing, methods)));
      times.push(performance.now() - startMs);
    }
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => Number((times[Math.floor(times.length * share)] ?? 0).toFixed(2));
  return { searchP50Ms: at(0.5), searchP99Ms: at(0.99), listings: LISTINGS };
}
