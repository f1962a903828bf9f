import { z } from "zod";
import { formatUsd, type MicroUsdc } from "../domain/money.ts";

// What every view is made of: money as decimal dollars, times in ISO 8601, tools as UUIDs.

export const usd = z
  .string()
  .regex(/^\d+\.\d{2,6}$/)
  .meta({ description: "Decimal dollars", examples: ["0.10"] });
export const time = z.iso.datetime().meta({ examples: ["2026-01-31T12:00:00.000Z"] });
export const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
export const hash = z.string().regex(/^0x[0-9a-f]{64}$/);
export const toolId = z.guid().meta({ examples: ["0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b"] });
export const count = z.int().nonnegative();
// Whole numbers that may be larger than JSON's are exact.
export const digits = z.string().regex(/^\d+$/);

export const timeOf = (ms: number) => new Date(ms).toISOString();
export const timeOrNull = (ms: number | null) => (ms === null ? null : timeOf(ms));

const UNLIMITED = 2n ** 128n;

// Wallets allow "without limit" as the largest number there is, which is no amount of dollars.
export const boundedUsd = (amount: bigint) => (amount >= UNLIMITED ? null : formatUsd(amount as MicroUsdc));
