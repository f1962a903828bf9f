import { readFileSync } from "node:fs";
import { registration } from "../../../../marketplace/api/registration.ts";
import type { Registration } from "../../../../marketplace/registry/listing.ts";
import { formatUsd } from "../../../../settlement/domain/money.ts";
import { parseAmount, required } from "../../../command/arguments.ts";
import { CommandError } from "../../../command/CommandError.ts";
import { requireFile } from "../../../command/files.ts";

const OPTIONS = ["endpoint", "name", "description", "category", "executePrice", "executePrices", "prompts"] as const;

export type RegistrationOptions = Record<(typeof OPTIONS)[number], string | undefined>;

const OPTION_OF: Readonly<Record<string, string>> = {
  toolId: "the tool's id",
  defaultExecutePriceUsd: "--execute-price",
  executePrices: "--execute-prices",
  suggestedPrompts: "--prompts",
};

// What was typed, exactly as the marketplace will read it: the signature is for the hash of this.
export function readRegistration(toolId: string, options: RegistrationOptions): Registration {
  const { category, executePrice, executePrices, prompts } = options;
  const read = registration.safeParse({
    toolId,
    endpoint: required("--endpoint", options.endpoint),
    name: required("--name", options.name),
    description: required("--description", options.description),
    category: category ?? null,
    defaultExecutePriceUsd: executePrice === undefined ? null : priceOf("--execute-price", executePrice),
    executePrices: executePrices === undefined ? {} : readPrices(executePrices),
    suggestedPrompts: prompts === undefined ? [] : readPrompts(prompts),
  });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const field = String(issue?.path[0]);
  // Null is what JSON has for an option that is left out.
  const problem = issue?.message.replace(/ or null$/, " or be left out");
  throw new CommandError(`${OPTION_OF[field] ?? `--${field}`} is wrong: it ${problem}`);
}

const priceOf = (option: string, text: string) => formatUsd(parseAmount(option, text));

// No price is given by leaving it out, and two prices for one method are a mistake of which neither is meant.
function readPrices(text: string): Record<string, string> {
  const prices = new Map<string, string>();
  for (const entry of text.split(",")) {
    const [, method = "", price = ""] = /^(.+)=([^=]+)$/.exec(entry.trim()) ?? [];
    if (method === "") {
      throw new CommandError(`--execute-prices has "${entry}": write method=price, such as search=0.01,fetch=0.002`);
    }
    if (prices.has(method)) throw new CommandError(`--execute-prices names ${method} twice: keep one of its prices`);
    prices.set(method, priceOf(`--execute-prices for ${method}`, price));
  }
  return Object.fromEntries(prices);
}

function readPrompts(path: string): string[] {
  requireFile(path, "--prompts names a text file with a prompt on each line");
  return readFileSync(path, "utf8")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
