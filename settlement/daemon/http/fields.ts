import type { Address, Hex } from "viem";
import { z } from "zod";
import { NO_HASH } from "../../domain/charges/charge.ts";
import { SettlementError } from "../../domain/errors.ts";
import { parseUsd } from "../../domain/money.ts";
import { MAX_BUDGET_ID, MAX_BUDGET_TOOLS, MAX_VALID_UNTIL } from "../../domain/payer/budget.ts";
import { toolIdFromUuid } from "../../domain/toolId.ts";

// The fields that requests are made of. Each says in words what it must be; the name is put in front when it is not.

export const example = {
  address: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
  hash: `0x${"5e".repeat(32)}`,
  toolId: "0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b",
  signature: `0x${"1b".repeat(65)}`,
};

// Lower case, as the ledger keeps it: the same account is written in several ways.
export const address = z
  .string("must be an address")
  .regex(/^0x[0-9a-fA-F]{40}$/, "must be an address, 0x and 40 hexadecimal digits")
  .meta({ examples: [example.address] })
  .transform((text) => text.toLowerCase() as Address);

export const hash = z
  .string("must be a hash")
  .regex(/^0x[0-9a-fA-F]{64}$/, "must be a hash, 0x and 64 hexadecimal digits")
  .meta({ examples: [example.hash] })
  .transform((text) => text.toLowerCase() as Hex);

export const hashOrNone = hash.optional().transform((value) => value ?? NO_HASH);

// Names go into addresses and logs as they are.
export const name = z
  .string("must be a text")
  .regex(/^[A-Za-z0-9._:~-]{1,200}$/, "must have 1 to 200 letters, digits or . _ : ~ -")
  .meta({ examples: ["call-1"] });

export const label = z
  .string("must be a text")
  .trim()
  .min(1, "must have 1 to 100 characters")
  .max(100, "must have 1 to 100 characters")
  .refine((value) => !/\p{Cc}/u.test(value), "must be without control characters")
  .refine((value) => value.isWellFormed(), "must be well-formed Unicode")
  .meta({ examples: ["Gas prices"] });

// A text that databases and JSON give back as it was: PostgreSQL has no zero character, and half of a surrogate pair is
// written as something else.
export const text = z
  .string("must be a text")
  .min(1, "must have 1 to 200 characters")
  .max(200, "must have 1 to 200 characters")
  .refine((value) => !/\p{Cc}/u.test(value), "must be without control characters")
  .refine((value) => value.isWellFormed(), "must be well-formed Unicode");

// A method of an MCP server, whose names are its own.
export const method = text.meta({ examples: ["search"] });

export const usd = z
  .string('must be dollars as a text, like "0.10"')
  .meta({ examples: ["0.10"] })
  .transform(read(parseUsd));

export const positiveUsd = usd.refine((amount) => amount > 0n, "must be more than zero");

export const toolId = z
  .string("must be a tool's UUID")
  .meta({ examples: [example.toolId] })
  .transform(read(toolIdFromUuid));

export const calls = z
  .number("must be a number")
  .int("must be a whole number")
  .min(0, "must be from 0 to 100")
  .max(100, "must be from 0 to 100");

export const whole = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
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
  .datetime({ offset: true, error: "must be a time in ISO 8601, like 2026-01-31T00:00:00Z" })
  .meta({ examples: ["2027-01-31T00:00:00Z"] })
  .transform((text) => Date.parse(text));

// A signed budget names its end as a whole second, and Date as a millisecond.
const second = time
  .refine((ms) => ms % 1_000 === 0, "must be a whole second: it is signed as one")
  .transform((ms) => BigInt(ms / 1_000))
  .refine((value) => value >= 0n && value <= MAX_VALID_UNTIL, "must be later than 1970 and earlier than 36812");

// What a payer has signed, without the payer, who follows from the request.
export const budget = z
  .strictObject(
    {
      id: z
        .string("must be a number as a text")
        .regex(/^(0|[1-9]\d{0,19})$/, 'must be a number as a text, like "7"')
        .meta({ examples: ["7"] })
        .transform(BigInt)
        .refine((value) => value <= MAX_BUDGET_ID, "must have no more than 64 bits"),
      maxSpendUsd: positiveUsd,
      validUntil: second,
      tools: z.array(toolId, "must be a list of tools' UUIDs").max(MAX_BUDGET_TOOLS, "has too many entries").optional(),
    },
    "must be an object with id, maxSpendUsd and validUntil",
  )
  .transform(({ id, maxSpendUsd: maxSpend, validUntil, tools = [] }) => ({ id, maxSpend, validUntil, tools }));

// Longer than a key's: a smart account may ask for more.
const MAX_SIGNATURE_BYTES = 4_096;
export const signature = z
  .string("must be a signature")
  .regex(/^0x([0-9a-fA-F]{2})+$/, "must be a signature, 0x and hexadecimal digits")
  .max(2 + 2 * MAX_SIGNATURE_BYTES, `must have at most ${MAX_SIGNATURE_BYTES} bytes`)
  .meta({ examples: [example.signature] })
  .transform((text) => text.toLowerCase() as Hex);

// The two together, where a request may bring them.
export const signed = { budget: budget.optional(), signature: signature.optional() };

// For writes that need nothing but their address.
export const nothing = z.strictObject({}).optional();

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
