import { randomBytes } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { StartError } from "../StartError.ts";

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
  settings: "settlement.env",
  keystore: "operator.json",
  keystorePassword: "keystore-password",
  serviceToken: "service-token",
  consoleToken: "console-token",
  daemonLog: "daemon.log",
  marketplaceSettings: "marketplace.env",
  marketplaceDatabase: "marketplace.db",
  marketplaceLog: "marketplace.log",
  signingKeys: "signing-keys.json",
  // The key with which a tool signs its answers, and the court that they are for.
  answers: "answers.json",
  // Of the demo's agents, and of whoever reads along.
  apiKeys: "api-keys.json",
  apiKey: "api-key",
} as const;

// What must be there to go on.
const PARTS = [
  "chain",
  "ledger",
  "deployments",
  "keystore",
  "keystorePassword",
  "serviceToken",
  "consoleToken",
  "marketplaceDatabase",
  "signingKeys",
  "answers",
] as const;

const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const TOKEN_BYTES = 32;

// Raised when a stack of an earlier version cannot be continued by this one.
const VERSION = 3;
const schema = z.object({ version: z.literal(VERSION), contracts: z.string(), createdAt: z.string() });

const RESET = "npm start -- --reset starts over";

export function openStateFolder(name: string): StateFolder {
  const folder = resolve(name);
  try {
    makeFolder(folder);
    if (!existsSync(join(folder, NAMES.state))) refuseForeignFiles(name, folder);
    chmodSync(folder, OWNER_ONLY_FOLDER);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    const why = REASONS[String(error.code)] ?? `cannot be used (${error.code})`;
    throw new StartError(`${name} ${why}: name another folder with --state`);
  }
  const paths = Object.entries(NAMES).map(([key, file]) => [key, join(folder, file)]);
  return { folder, ...Object.fromEntries(paths) } as StateFolder;
}

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: "is not a folder",
  ENOTDIR: "is not a folder, or is below something that is none",
  ENOENT: "cannot be made there",
  EACCES: "is not open to this user",
  EPERM: "does not belong to this user",
  EROFS: "is on a disk that cannot be written",
};

// Makes the folders above it first. Node's own way to do that never ends where nothing can be made, as in /proc.
function makeFolder(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) {
    makeFolder(dirname(folder));
    mkdirSync(folder, { mode: OWNER_ONLY_FOLDER });
  } else if (!found.isDirectory()) {
    throw Object.assign(new Error(`${folder} is not a folder`), { code: "ENOTDIR" });
  }
}

// A reset deletes files. It must never be somebody's photographs.
function refuseForeignFiles(name: string, folder: string): void {
  const foreign = readdirSync(folder).find((entry) => !isOwn(entry));
  if (foreign === undefined) return;
  throw new StartError(`${name} holds ${foreign}, which is not of npm start: name another folder with --state`);
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
    throw new StartError(`the state in ${name} is of another version of this program: ${RESET}`);
  }
  const missing = PARTS.find((part) => !existsSync(paths[part]));
  if (missing !== undefined) {
    throw new StartError(`the state in ${name} is incomplete, ${NAMES[missing]} is missing: ${RESET}`);
  }
  return true;
}

export function requireContracts({ state }: StateFolder, name: string, contracts: string): void {
  if (readState(state)?.contracts === contracts) return;
  throw new StartError(`the chain in ${name} has other contracts than this version: ${RESET}`);
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
