import type { Address } from "viem";
import { type MicroUsdc, parseUsd } from "../../settlement/domain/money.ts";
import type { JsonSchema } from "../mcp/createMcpClient.ts";

export const CATEGORIES = [
  "Crypto & DeFi",
  "Financial Markets",
  "Business & Sales",
  "Marketing & SEO",
  "Legal & Regulatory",
  "Real World",
  "Developer Tools",
  "Research & Academia",
  "Utility",
  "Other",
] as const;
export type Category = (typeof CATEGORIES)[number];

export const SURFACES = ["answer", "execute", "both"] as const;
export const LATENCY_CLASSES = ["instant", "fast", "slow", "streaming"] as const;
export const CONTEXT_KINDS = ["hyperliquid", "polymarket", "wallet"] as const;
export type Surface = (typeof SURFACES)[number];
export type LatencyClass = (typeof LATENCY_CLASSES)[number];
export type ContextKind = (typeof CONTEXT_KINDS)[number];

export type RateLimit = {
  maxRequestsPerMinute?: number;
  cooldownMs?: number;
  maxConcurrency?: number;
  supportsBulk?: boolean;
  recommendedBatchTools?: string[];
  notes?: string;
};

// What the platform knows of a method's `_meta`; whatever else the contributor writes there is passed on.
export type MethodMeta = {
  surface: Surface;
  queryEligible: boolean;
  latencyClass: LatencyClass;
  pricing: { executeUsd?: string; queryUsd?: string; [own: string]: unknown };
  contextRequirements?: ContextKind[];
  rateLimit?: RateLimit;
  [own: string]: unknown;
};

// A method of a listing, as it is shown. Its `_meta` was cleaned when it was read from the server.
export type Method = {
  name: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  _meta: MethodMeta;
  executeEligible: boolean;
  executePriceUsd: string | null;
};

export type SuggestedPrompt = { text: string; source: "contributor" | "platform" | "sdk"; priceHint?: string };

// What the owner says of a tool, and signs.
export type Registration = {
  toolId: string;
  name: string;
  description: string;
  category: Category | null;
  endpoint: string;
  // Fills the execute price of every method that has none of its own and has not opted out.
  defaultExecutePriceUsd: string | null;
  // By the method's name; these win over what the server says.
  executePrices: Readonly<Record<string, string>>;
  suggestedPrompts: readonly SuggestedPrompt[];
};

// What the chain says of a tool.
export type Standing = { owner: Address; price: MicroUsdc; stake: MicroUsdc; requiredStake: MicroUsdc };

export type Listing = Registration &
  Standing & {
    methods: readonly Method[];
    // What the contributor should look at.
    warnings: readonly string[];
    status: { kind: "active" } | { kind: "delisted"; reason: string };
    isVerified: boolean;
    pings: number;
    pingsAnswered: number;
    failuresInARow: number;
    // Of all calls but its owner's. For its owner: anybody can add to these for nothing.
    calls: number;
    callsSucceeded: number;
    // Of those that cost something: how many were paid for and by how many wallets, and how many failed.
    paidCalls: number;
    failedCalls: number;
    payers: number;
    // What was paid for it, of each wallet as much as counts.
    earned: MicroUsdc;
    registeredAtMs: number;
    refreshedAtMs: number;
    updatedAtMs: number;
    revision: number;
  };

// By what was paid for: each of these wallets has money and a spending cap on chain.
export const PROVEN = { calls: 100, payers: 10, successPercent: 95, uptimePercent: 98 };

export const isStaked = ({ stake, requiredStake }: Standing) => stake >= requiredStake;

// Whether anybody finds it, and can buy from it.
export const isOffered = (listing: Listing) => listing.status.kind === "active" && isStaked(listing);

// Paid means a listing price or an execute price above zero.
export const isPaid = (price: bigint, methods: readonly Method[]) =>
  price > 0n || methods.some(({ executePriceUsd }) => executePriceUsd !== null && parseUsd(executePriceUsd) > 0n);

export const isQueryEligible = ({ _meta: { surface, queryEligible, latencyClass } }: Method) =>
  surface !== "execute" && queryEligible && latencyClass !== "streaming";
