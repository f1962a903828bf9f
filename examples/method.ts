import type { z } from "zod";

type Shape = Record<string, z.ZodType>;

// What a method tells the marketplace about itself: what it does, what it takes and answers, and what a call costs.
export const method = <Input extends Shape, Output extends Shape>(options: {
  description: string;
  // In dollars, as text: money is never a number.
  price: string;
  input: Input;
  output: Output;
  latencyClass?: "instant" | "fast" | "slow";
  rateLimit?: { maxRequestsPerMinute?: number; cooldownMs?: number; maxConcurrency?: number; notes?: string };
}) => ({
  description: options.description,
  inputSchema: options.input,
  outputSchema: options.output,
  annotations: { readOnlyHint: true },
  _meta: {
    surface: "both",
    queryEligible: true,
    latencyClass: options.latencyClass ?? "instant",
    pricing: { executeUsd: options.price },
    ...(options.rateLimit && { rateLimit: options.rateLimit }),
  },
});

// The structured answer is what is sold, checked and signed. Older clients read the same as text.
export const answer = <T extends Record<string, unknown>>(structuredContent: T) => ({
  content: [{ type: "text" as const, text: JSON.stringify(structuredContent) }],
  structuredContent,
});
