import { cleanMethods } from "../../marketplace/registry/cleanMethods.ts";
import { CATEGORIES, type Listing } from "../../marketplace/registry/listing.ts";
import { microUsdc } from "../../settlement/domain/money.ts";

const SUBJECTS =
  "gas price weather flight stock bond option token wallet exchange order book news court patent paper gene protein map traffic hotel recipe football tennis election census energy grid satellite ship port customs invoice tax payroll contract domain certificate email calendar image audio translation grammar sentiment".split(
    " ",
  );
const ACTIONS = "find list compare forecast convert summarise rank watch explain check estimate count".split(" ");
const PLACES =
  "Base Ethereum Solana London Tokyo Berlin Brazil Kenya India Europe NASDAQ Kalshi Polymarket Hyperliquid Uniswap".split(
    " ",
  );

const pick = (words: readonly string[], n: number) => words[n % words.length] ?? "";

// Listings that differ as real ones would: some forty subjects and a few methods each, with descriptions of some length.
export function* manyListings(count: number): Generator<Listing> {
  for (let i = 0; i < count; i += 1) {
    const subject = pick(SUBJECTS, i * 7);
    const place = pick(PLACES, i * 11);
    const listed = Array.from({ length: 3 }, (_, m) => {
      const action = pick(ACTIONS, i + m * 5);
      return {
        name: `${action}_${subject}_${pick(SUBJECTS, i + m)}`,
        description: `${action} ${subject} data of ${place} beside ${pick(SUBJECTS, i * 3 + m)}, by name, time and region`,
        inputSchema: { type: "object", properties: { query: { type: "string" } } },
        outputSchema: { type: "object", properties: { rows: { type: "array" } } },
        _meta: { pricing: { executeUsd: "0.001" } },
      };
    });
    const { methods } = cleanMethods(listed, { defaultExecutePriceUsd: null, executePrices: {} });
    yield {
      toolId: `00000000-0000-8000-8000-${i.toString(16).padStart(12, "0")}`,
      name: `${place} ${subject} ${i}`,
      description: `Everything about ${subject} in ${place}: ${pick(ACTIONS, i)} and ${pick(ACTIONS, i + 3)} it, with ${pick(SUBJECTS, i * 13)} and ${pick(SUBJECTS, i * 17)} as context.`,
      category: CATEGORIES[i % CATEGORIES.length] ?? null,
      endpoint: `https://tool-${i}.example/mcp`,
      defaultExecutePriceUsd: null,
      executePrices: {},
      suggestedPrompts: [],
      owner: "0x0000000000000000000000000000000000000001",
      price: microUsdc(0n),
      stake: microUsdc(10_000_000n),
      requiredStake: microUsdc(10_000_000n),
      methods,
      warnings: [],
      status: { kind: "active" },
      isVerified: i % 50 === 0,
      pings: 1,
      pingsAnswered: 1,
      failuresInARow: 0,
      calls: (i * 37) % 5_000,
      callsSucceeded: (i * 31) % 4_000,
      paidCalls: (i * 31) % 4_000,
      failedCalls: (i * 7) % 500,
      payers: i % 100,
      earned: microUsdc(BigInt((i * 31) % 4_000) * 1_000n),
      registeredAtMs: 0,
      refreshedAtMs: 0,
      updatedAtMs: 0,
      revision: i + 1,
    };
  }
}
