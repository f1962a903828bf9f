import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { StartError } from "./StartError.ts";

// Everything that a stack keeps between two starts. `state` is written when the first start has succeeded, so that what a
// failed one left behind is never taken for a stack.
export type StateFolder = Record<"folder" | keyof typeof NAMES, string>;

const NAMES = {
  state: "state.json",
  lock: "lock",
  chain: "chain.json",
  chainLog: "anvil.log",
  ledger: "ledger.db",
  deployments: "deployments",
  config: "settlement.json",
  keystore: "operator.json",
  keystorePassword: "keystore-password",
  serviceToken: "service-token",
  consoleToken: "console-token",
  apiKeys: "api-keys.json",
  daemonLog: "daemon.log",
} as const;

// What has to be there to go on.
const PARTS = [
  "chain",
  "ledger",
  "deployments",
  "keystore",
  "keystorePassword",
  "serviceToken",
  "consoleToken",
] as const;

const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const TOKEN_BYTES = 32;

// Raised when a stack of an earlier version cannot be continued by this one.
const VERSION = 1;
const schema = z.object({ version: z.literal(VERSION), contracts: z.string(), createdAt: z.string() });

const RESET = "npm start -- --reset begins anew";

export function openStateFolder(name: string): StateFolder {
  const folder = resolve(name);
  if (existsSync(folder) && !existsSync(join(folder, NAMES.state))) refuseStrangers(name, folder);
  mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
  chmodSync(folder, OWNER_ONLY_FOLDER);
  const paths = Object.entries(NAMES).map(([key, file]) => [key, join(folder, file)]);
  return { folder, ...Object.fromEntries(paths) } as StateFolder;
}

// A reset deletes files. It must never be somebody's photographs.
function refuseStrangers(name: string, folder: string): void {
  const stranger = readdirSync(folder).find((entry) => !isOwn(entry));
  if (stranger === undefined) return;
  throw new StartError(`${name} holds ${stranger}, which is not of npm start: name another folder with --state.`);
}

const isOwn = (entry: string) =>
  Object.values(NAMES).some((file) => entry === file || entry.startsWith(`${file}-`) || entry === `${file}.new`);

// Forgets everything but the lock.
export function clear({ folder, lock }: StateFolder): void {
  for (const entry of readdirSync(folder)) {
    const path = join(folder, entry);
    if (isOwn(entry) && path !== lock) rmSync(path, { recursive: true, force: true });
  }
}

// Whether there is a stack to go on with. One that cannot be continued is refused and not touched.
export function hasStack(paths: StateFolder, name: string): boolean {
  if (!existsSync(paths.state)) return false;
  if (readState(paths.state) === undefined) {
    throw new StartError(`The state in ${name} is of another version of this program: ${RESET}.`);
  }
  const missing = PARTS.find((part) => !existsSync(paths[part]));
  if (missing !== undefined) {
    throw new StartError(`The state in ${name} is incomplete, ${NAMES[missing]} is missing: ${RESET}.`);
  }
  return true;
}

export function requireContracts({ state }: StateFolder, name: string, contracts: string): void {
  if (readState(state)?.contracts === contracts) return;
  throw new StartError(`The chain in ${name} has other contracts than this version: ${RESET}.`);
}

function readState(path: string): z.infer<typeof schema> | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}

export function writeState({ state }: StateFolder, contracts: string): void {
  const contents = { version: VERSION, contracts, createdAt: new Date().toISOString() };
  replace(state, `${JSON.stringify(contents, undefined, 2)}\n`);
}

export function createToken(path: string): string {
  const token = randomBytes(TOKEN_BYTES).toString("hex");
  writeSecret(path, token);
  return token;
}

export const readToken = (path: string) => readFileSync(path, "utf8").trim();

export const writeSecret = (path: string, contents: string) =>
  writeFileSync(path, `${contents}\n`, { mode: OWNER_ONLY });

// The whole new contents or the whole old ones, whenever the plug is pulled.
export function replace(path: string, contents: string | Buffer): void {
  writeFileSync(`${path}.new`, contents, { flush: true });
  renameSync(`${path}.new`, path);
}
