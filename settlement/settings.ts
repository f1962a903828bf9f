import { readFileSync } from "node:fs";
import { z } from "zod";
import { SettlementError } from "./domain/errors.ts";
import { microUsdc, parseUsd } from "./domain/money.ts";
import { isPostgres } from "./domain/text/isPostgres.ts";
import { suggestionOf } from "./domain/text/nearest.ts";

// What settings are made of and how they are read from the environment. Which there are is up to each program.
export type Environment = Readonly<Record<string, string | undefined>>;

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const logLevel = z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`);

// 32 random characters are more than anybody can guess.
const MIN_SECRET_LENGTH = 32;
const MAX_NAME_LENGTH = 200;
export const secret = z
  .string()
  .min(MIN_SECRET_LENGTH, `must have ${MIN_SECRET_LENGTH} characters or more; openssl rand -hex 32 makes one`);

export const commaList = z
  .string()
  .transform((text) => text.split(",").map((part) => part.trim()))
  .pipe(z.array(z.string().min(1, "has an empty entry")).min(1));

export const whole = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number(message).int(message).min(min, message).max(max, message);
};

export const dollars = z.string().transform((text, context) => {
  try {
    const amount = parseUsd(text);
    if (amount > 0n) return amount;
  } catch {
    // Whatever is wrong with it, an example says what is right.
  }
  context.addIssue("must be dollars above zero, like 0.50");
  return microUsdc(0n);
});

export const databaseLocation = z
  .string()
  .refine(
    (text) => isPostgres(text) || !/^[a-z][a-z\d+.-]+:/i.test(text),
    "must be a file or a postgres:// address; other databases are not supported",
  );

// The name of a process among those that share a database.
export const holderName = z
  .string()
  .refine((text) => text.length <= MAX_NAME_LENGTH, `must have at most ${MAX_NAME_LENGTH} characters`);

export const webUrl = (message: string) => z.url({ protocol: /^https?$/, error: message });

export const listen = (example: string) =>
  z.string().regex(/^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$/, `must be host:port, like ${example}`);

export function listenOf(name: string, text: string): { host: string; port: number } {
  const separator = text.lastIndexOf(":");
  const port = Number(text.slice(separator + 1));
  if (port > 65_535)
    throw new SettlementError("invalid_config", `${name} has a port above 65535; name one from 0 to 65535`);
  return { host: text.slice(0, separator).replace(/^\[|\]$/g, ""), port };
}

export type SettingsOptions<S extends z.ZodObject> = {
  schema: S;
  prefix: string;
  // What may stand in a file of its own, whose path is in the variable with _FILE at its end: systemd and others hand
  // secrets over as files, which no other process can read and no list of processes shows.
  inFiles: readonly string[];
  // What stands behind the settings that are not given, and how one that is missing after all is described.
  defaultsOf?: (given: Environment) => Environment;
  hintOf?: (name: string) => string;
};

// Every setting, checked; whatever is missing, wrong or misspelt is named, and never shown, because it may be a secret.
export function readSettings<S extends z.ZodObject>(environment: Environment, options: SettingsOptions<S>): z.infer<S> {
  const { schema, inFiles, defaultsOf = () => ({}), hintOf = () => "" } = options;
  refuseUnknownNames(environment, options);
  const own = withFiles(environment, inFiles);
  const given: Environment = { ...defaultsOf(own), ...own };
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return given[name] === undefined ? `${name} is missing${hintOf(name)}` : `${name} ${issue.message}`;
  });
  // A value can break several rules that are said in the same words.
  throw new SettlementError("invalid_config", [...new Set(problems)].join("; "));
}

// Puts the contents of files in the place of their names. A line break at the end belongs to the file and not to the secret.
export function withFiles(environment: Environment, inFiles: readonly string[]): Environment {
  const given = definedOf(environment);
  const values: Record<string, string | undefined> = { ...given };
  for (const name of inFiles) {
    const path = given[`${name}_FILE`];
    if (path === undefined) continue;
    if (given[name] !== undefined) {
      throw new SettlementError("invalid_config", `${name} and ${name}_FILE are both set; keep one of them`);
    }
    try {
      values[name] = readFileSync(path, "utf8").replace(/\r?\n$/, "");
    } catch (cause) {
      const reason = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
      throw new SettlementError("invalid_config", `${name}_FILE: ${path} cannot be read${reason}`, { cause });
    }
    if (values[name] === "") throw new SettlementError("invalid_config", `${name}_FILE: ${path} is empty`);
  }
  return values;
}

// A variable that is set to nothing is as good as not set.
function definedOf(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""));
}

// A name that is nearly right would otherwise be ignored without a word.
function refuseUnknownNames<S extends z.ZodObject>(
  environment: Environment,
  { schema, prefix, inFiles }: SettingsOptions<S>,
): void {
  const known = [...Object.keys(schema.shape), ...inFiles.map((name) => `${name}_FILE`)];
  const unknown = Object.keys(environment).find((name) => name.startsWith(prefix) && !known.includes(name));
  if (unknown === undefined) return;
  throw new SettlementError("invalid_config", `${unknown} is not a setting${suggestionOf(unknown, known)}`);
}
