import { isAddress, isHex } from "viem";
import { z } from "zod";
import { SettlementError } from "./domain/errors.ts";

// The one place that knows the names of environment variables. Whoever starts the service passes `process.env` in.
export type Environment = Readonly<Record<string, string | undefined>>;

export type KeyConfig =
  | { kind: "keystore"; path: string; password: string }
  // For development: the key itself.
  | { kind: "plain"; privateKey: `0x${string}` };

export type Config = {
  chainId: number;
  rpcUrls: readonly string[];
  router: `0x${string}`;
  // A file, or a postgres:// URL.
  ledger: string;
  keys: readonly KeyConfig[];
};

const DEVELOPMENT_CHAIN_ID = 31337;

const commaList = z
  .string()
  .transform((text) => text.split(",").map((part) => part.trim()))
  .pipe(z.array(z.string().min(1, "has an empty entry")).min(1));

const schema = z.object({
  SETTLEMENT_CHAIN_ID: z.coerce.number("has to be a number, like 8453 for Base").int().positive(),
  SETTLEMENT_RPC_URLS: commaList.pipe(z.array(z.url({ protocol: /^https?$/, error: "has to be http or https URLs" }))),
  SETTLEMENT_ROUTER: z.string().refine((text) => isAddress(text), "has to be the address of ContextRouter"),
  SETTLEMENT_LEDGER: z.string().min(1, "has to be a file or a postgres:// URL"),
  SETTLEMENT_KEYSTORES: commaList.optional(),
  SETTLEMENT_KEYSTORE_PASSWORD: z.string().optional(),
  SETTLEMENT_OPERATOR_KEYS: commaList
    .pipe(z.array(z.string().refine((text) => isHex(text) && text.length === 66, "has to be private keys of 32 bytes")))
    .optional(),
});

export function readConfig(environment: Environment): Config {
  const parsed = schema.safeParse(environment);
  if (!parsed.success) throw new SettlementError("invalid_config", parsed.error.issues.map(describeIssue).join("; "));
  const values = parsed.data;
  return {
    chainId: values.SETTLEMENT_CHAIN_ID,
    rpcUrls: values.SETTLEMENT_RPC_URLS,
    router: values.SETTLEMENT_ROUTER as `0x${string}`,
    ledger: values.SETTLEMENT_LEDGER,
    keys: [...keystoresOf(values), ...plainKeysOf(values)],
  };
}

type Values = z.infer<typeof schema>;

function keystoresOf({
  SETTLEMENT_KEYSTORES: paths = [],
  SETTLEMENT_KEYSTORE_PASSWORD: password,
}: Values): KeyConfig[] {
  if (paths.length === 0) return [];
  if (password === undefined) {
    throw new SettlementError("invalid_config", "SETTLEMENT_KEYSTORE_PASSWORD is missing; the keystores need it");
  }
  return paths.map((path) => ({ kind: "keystore", path, password }));
}

function plainKeysOf({ SETTLEMENT_OPERATOR_KEYS: keys = [], SETTLEMENT_CHAIN_ID: chainId }: Values): KeyConfig[] {
  // A key in the environment is visible to too many on a machine that handles other people's money.
  if (keys.length > 0 && chainId !== DEVELOPMENT_CHAIN_ID) {
    throw new SettlementError(
      "invalid_config",
      `SETTLEMENT_OPERATOR_KEYS is for chain ${DEVELOPMENT_CHAIN_ID} only; put the key into a keystore and name it in SETTLEMENT_KEYSTORES`,
    );
  }
  return keys.map((privateKey) => ({ kind: "plain", privateKey: privateKey as `0x${string}` }));
}

// Names the variable and never shows its value, which may be a secret.
function describeIssue(issue: z.core.$ZodIssue): string {
  const name = String(issue.path[0]);
  const missing = issue.code === "invalid_type" && issue.input === undefined;
  return `${name} ${missing ? "is missing" : issue.message}`;
}
