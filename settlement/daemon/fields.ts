import type { Address, Hex } from "viem";
import { z } from "zod";
import { NO_HASH } from "../domain/charge.ts";
import { SettlementError } from "../domain/errors.ts";
import { parseUsd } from "../domain/money.ts";
import { toolIdFromUuid } from "../domain/toolId.ts";

// The fields that requests are made of. Each says in words what it has to be; the name is put in front when it is not.

// Lower case, as the ledger keeps it: the same account is written in several ways.
export const address = z
  .string("has to be an address")
  .regex(/^0x[0-9a-fA-F]{40}$/, "has to be an address, 0x and 40 hexadecimal digits")
  .transform((text) => text.toLowerCase() as Address);

export const hash = z
  .string("has to be a hash")
  .regex(/^0x[0-9a-fA-F]{64}$/, "has to be a hash, 0x and 64 hexadecimal digits")
  .transform((text) => text.toLowerCase() as Hex);

export const hashOrNone = hash.optional().transform((value) => value ?? NO_HASH);

// Names go into addresses and logs as they are.
export const name = z
  .string("has to be a text")
  .regex(/^[A-Za-z0-9._:~-]{1,200}$/, "has to have 1 to 200 letters, digits or . _ : ~ -");

export const label = z
  .string("has to be a text")
  .trim()
  .min(1, "has to have 1 to 100 characters")
  .max(100, "has to have 1 to 100 characters")
  .refine((text) => !/\p{Cc}/u.test(text), "has to be without control characters");

// A method of an MCP server, whose names are its own.
export const method = z
  .string("has to be a text")
  .min(1, "has to have 1 to 200 characters")
  .max(200, "has to have 1 to 200 characters")
  .refine((text) => !/\p{Cc}/u.test(text), "has to be without control characters");

export const usd = z.string('has to be dollars as a text, like "0.10"').transform(read(parseUsd));

export const positiveUsd = usd.refine((amount) => amount > 0n, "has to be more than zero");

export const toolId = z.string("has to be a tool's UUID").transform(read(toolIdFromUuid));

export const calls = z
  .number("has to be a number")
  .int("has to be a whole number")
  .min(0, "has to be from 0 to 100")
  .max(100, "has to be from 0 to 100");

export const whole = (min: number, max: number) => {
  const message = `has to be a whole number from ${min} to ${max}`;
  return z
    .string(message)
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);
};

export const MAX_PAGE = 1_000;
export const limit = whole(1, MAX_PAGE)
  .optional()
  .transform((value) => value ?? 100);
export const offset = whole(0, 1_000_000)
  .optional()
  .transform((value) => value ?? 0);

export const time = z.iso
  .datetime({ offset: true, error: "has to be a time in ISO 8601, like 2026-01-31T00:00:00Z" })
  .transform((text) => Date.parse(text));

// Reads a text with a function of the domain, whose own words say what is wrong with it.
function read<T>(parse: (text: string) => T) {
  return (text: string, context: z.RefinementCtx): T => {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof SettlementError)) throw error;
      context.addIssue({ code: "custom", message: `is wrong: ${error.message}` });
      return z.NEVER;
    }
  };
}
