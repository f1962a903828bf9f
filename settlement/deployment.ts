import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { z } from "zod";
import { SettlementError } from "./domain/errors.ts";

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);

// Amounts are strings of micro-USDC, because JSON has no integers of their size.
const units = z.string().regex(/^[0-9]+$/);

const contract = z.object({ address, block: z.int().nonnegative(), arguments: z.array(z.string()) });

// What the repository knows of a deployment: the file deployments/<network>.json, which the deploy command writes.
export const deploymentSchema = z.object({
  network: z.string(),
  chainId: z.int(),
  usdc: address,
  deployer: address,
  label: z.string(),
  contracts: z.object({
    manager: contract,
    staking: contract,
    bonds: contract,
    router: contract,
    receiptCourt: contract,
    jsonSchema: contract,
    schemaCourt: contract,
  }),
  parties: z.object({
    admin: address,
    treasury: address,
    insurance: address,
    guardian: address,
    adjudicator: address,
    operator: address,
  }),
  adminDelaySeconds: z.int(),
  operatorLimits: z.record(address, units),
  parameters: z.record(z.string(), units),
  compiler: z.object({ version: z.string(), settings: z.json() }),
  commit: z.string(),
});

export type DeploymentRecord = z.infer<typeof deploymentSchema>;

const FOLDER = join(import.meta.dirname, "..", "deployments");
const NAME_PATTERN = /^[a-z0-9-]+$/;

const pathOf = (folder: string, network: string) => relative(process.cwd(), join(folder, `${network}.json`));

// The record of a network by its name, or in a file that is named by its path. The service and all commands read it here.
export function readDeployment(network: string, folder = FOLDER): DeploymentRecord {
  const isName = NAME_PATTERN.test(network);
  const path = isName ? pathOf(folder, network) : network;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw invalid(
      `the deployment record ${path} cannot be read; npx hardhat deploy --network ${isName ? network : "<network>"} makes it`,
      cause,
    );
  }
  const parsed = deploymentSchema.safeParse(parseJson(path, text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(`${path} is not a deployment record (${issue?.path.join(".")} is wrong); restore it from git`);
}

// Every record, by name; none if nothing was deployed from here yet.
export function listDeployments(folder = FOLDER): DeploymentRecord[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .map((file) => basename(file, ".json"))
    .filter((network) => NAME_PATTERN.test(network))
    .sort()
    .map((network) => readDeployment(network, folder));
}

// Writes a record down where it is read from, and returns its path.
export function writeDeployment(record: DeploymentRecord, folder = FOLDER): string {
  const path = pathOf(folder, record.network);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, `${JSON.stringify(record, null, 2)}\n`);
  return path;
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid(`the deployment record ${path} is not JSON; restore it from git`, cause);
  }
}

const invalid = (message: string, cause?: unknown) => new SettlementError("invalid_config", message, { cause });
