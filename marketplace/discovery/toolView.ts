import { z } from "zod";
import { formatUsd } from "../../settlement/domain/money.ts";
import {
  CATEGORIES,
  CONTEXT_KINDS,
  LATENCY_CLASSES,
  type Listing,
  type Method,
  PROVEN,
  SURFACES,
  type SuggestedPrompt,
} from "../registry/listing.ts";

// A tool as the public SDKs read it. The Python one refuses a whole answer for one value of another type.

export const promptSchema = z.object({
  text: z.string(),
  source: z.enum(["contributor", "platform", "sdk"]),
  priceHint: z.string().optional(),
});

const methodSchema = z
  .object({
    name: z.string(),
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()),
    outputSchema: z.record(z.string(), z.unknown()).optional(),
    _meta: z.looseObject({
      surface: z.enum(SURFACES),
      queryEligible: z.boolean(),
      latencyClass: z.enum(LATENCY_CLASSES),
      pricing: z.looseObject({ executeUsd: z.string().optional(), queryUsd: z.string().optional() }),
      contextRequirements: z.array(z.enum(CONTEXT_KINDS)).optional(),
      rateLimit: z
        .object({
          maxRequestsPerMinute: z.int().optional(),
          cooldownMs: z.int().optional(),
          maxConcurrency: z.int().optional(),
          supportsBulk: z.boolean().optional(),
          recommendedBatchTools: z.array(z.string()).optional(),
          notes: z.string().optional(),
        })
        .optional(),
    }),
    executeEligible: z.boolean(),
    executePriceUsd: z.string().nullable(),
  })
  .meta({ id: "Method" });

export const toolSchema = z
  .object({
    id: z.guid(),
    name: z.string(),
    description: z.string(),
    price: z.string(),
    suggestedPrompts: z.array(promptSchema),
    category: z.enum(CATEGORIES).nullable(),
    isVerified: z.boolean(),
    isProven: z.boolean(),
    kind: z.literal("mcp"),
    mcpTools: z.array(methodSchema),
    methodsLeftOut: z.int().optional().meta({ description: "How many more it has, in a compact view" }),
    totalQueries: z.int(),
    successRate: z.string().optional(),
    uptimePercent: z.string().optional(),
    totalStaked: z.string(),
  })
  .meta({ id: "Tool" });

export type ToolView = z.infer<typeof toolSchema>;

function isProven({ paidCalls, failedCalls, payers, pings, pingsAnswered }: Listing): boolean {
  return (
    paidCalls >= PROVEN.calls &&
    payers >= PROVEN.payers &&
    percentOf(paidCalls, paidCalls + failedCalls) >= PROVEN.successPercent &&
    percentOf(pingsAnswered, pings) >= PROVEN.uptimePercent
  );
}

export function toolView(listing: Listing, methods: readonly Method[] = listing.methods): ToolView {
  const { toolId, name, description, price, category, suggestedPrompts, isVerified, stake, pings } = listing;
  const { paidCalls, failedCalls } = listing;
  // As the rank has it: what costs nothing, and failures without end, are anybody's to have as many of as they like.
  const counted = paidCalls + failedCalls;
  const success = percentOf(paidCalls, counted);
  const uptime = percentOf(listing.pingsAnswered, pings);
  return {
    id: toolId,
    name,
    description,
    price: formatUsd(price),
    suggestedPrompts: [...suggestedPrompts] as SuggestedPrompt[],
    category,
    isVerified,
    isProven: isProven(listing),
    kind: "mcp",
    mcpTools: methods as ToolView["mcpTools"],
    totalQueries: counted,
    ...(counted > 0 && { successRate: `${success}` }),
    ...(pings > 0 && { uptimePercent: `${uptime}` }),
    totalStaked: formatUsd(stake),
  };
}

// With two decimals at the most, rounded down: nobody has 100 % who has failed once.
const percentOf = (part: number, whole: number) => (whole === 0 ? 0 : Math.floor((part * 10_000) / whole) / 100);
