import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type DeploymentRecord, deploymentSchema } from "../../settlement/deployment.ts";
import { CommandError } from "../command/CommandError.ts";
import type { NetworkName } from "../networks.ts";
import { settings } from "../settings.ts";
import { ADMIN_DELAY_SECONDS, type Addresses, INITIAL_PARAMETERS, type Terms } from "./description.ts";

export type { DeploymentRecord };

const pathOf = (network: string) => relative(process.cwd(), join(settings.deploymentsFolder, `${network}.json`));

export function findRecord(network: string): DeploymentRecord | undefined {
  let text: string;
  try {
    text = readFileSync(pathOf(network), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  const parsed = deploymentSchema.safeParse(parseJson(pathOf(network), text));
  if (parsed.success) return parsed.data;
  throw new CommandError(
    `${pathOf(network)} is not a deployment record (${parsed.error.issues[0]?.path.join(".")} is wrong): restore it from git.`,
  );
}

export function readRecord(network: NetworkName): DeploymentRecord {
  const record = findRecord(network);
  if (record) return record;
  throw new CommandError(`There is no deployment on ${network} in ${pathOf(network)}: run deploy first.`);
}

export function writeRecord(record: DeploymentRecord): string {
  mkdirSync(settings.deploymentsFolder, { recursive: true });
  writeFileSync(pathOf(record.network), `${JSON.stringify(record, null, 2)}\n`);
  return pathOf(record.network);
}

export function listRecords(): DeploymentRecord[] {
  let names: string[];
  try {
    names = readdirSync(settings.deploymentsFolder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  return names
    .filter((name) => name.endsWith(".json"))
    .sort()
    .flatMap((name) => findRecord(name.replace(/\.json$/, "")) ?? []);
}

export const addressesOf = ({ contracts }: DeploymentRecord): Addresses => ({
  manager: contracts.manager.address,
  staking: contracts.staking.address,
  router: contracts.router.address,
});

export const termsOf = ({ deployer, usdc, parties, operatorLimits }: DeploymentRecord): Terms => ({
  deployer,
  usdc,
  parties: { ...parties, operatorLimit: BigInt(operatorLimits[parties.operator] ?? 0) },
});

// What is to be written down of a deployment on these terms.
export function recordOf({
  terms,
  ...known
}: Pick<DeploymentRecord, "network" | "chainId" | "label" | "contracts" | "compiler" | "commit"> & {
  terms: Terms;
}): DeploymentRecord {
  const { operatorLimit, ...parties } = terms.parties;
  const { minimumStake, stakeMultiplier, bountyBps } = INITIAL_PARAMETERS;
  return {
    network: known.network,
    chainId: known.chainId,
    usdc: terms.usdc,
    deployer: terms.deployer,
    label: known.label,
    contracts: known.contracts,
    parties,
    adminDelaySeconds: ADMIN_DELAY_SECONDS,
    operatorLimits: { [parties.operator]: operatorLimit.toString() },
    parameters: {
      minimumStake: minimumStake.toString(),
      stakeMultiplier: stakeMultiplier.toString(),
      bountyBps: bountyBps.toString(),
    },
    compiler: known.compiler,
    commit: known.commit,
  };
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`${path} is not JSON: restore it from git.`);
  }
}
