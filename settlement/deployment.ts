import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
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
  contracts: z.object({ manager: contract, staking: contract, router: contract }),
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
  parameters: z.object({ minimumStake: units, stakeMultiplier: units, bountyBps: units }),
  compiler: z.object({ version: z.string(), settings: z.json() }),
  commit: z.string(),
});

export type DeploymentRecord = z.infer<typeof deploymentSchema>;

const FOLDER = join(import.meta.dirname, "..", "deployments");
const NAME_PATTERN = /^[a-z0-9-]+$/;

// The record of a network by its name, or in a file that is named by its path.
export function readDeployment(network: string): DeploymentRecord {
  const path = NAME_PATTERN.test(network) ? relative(process.cwd(), join(FOLDER, `${network}.json`)) : network;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new SettlementError(
      "invalid_config",
      `SETTLEMENT_NETWORK is ${network}, and ${path} cannot be read; npx hardhat deploy --network ${NAME_PATTERN.test(network) ? network : "<network>"} makes it, ` +
        "or set SETTLEMENT_CHAIN_ID and SETTLEMENT_ROUTER instead",
      { cause },
    );
  }
  const parsed = deploymentSchema.safeParse(parseJson(path, text));
  if (parsed.success) return parsed.data;
  throw new SettlementError(
    "invalid_config",
    `SETTLEMENT_NETWORK: ${path} is not a deployment record (${parsed.error.issues[0]?.path.join(".")} is wrong); restore it from git`,
  );
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SettlementError("invalid_config", `SETTLEMENT_NETWORK: ${path} is not JSON; restore it from git`, {
      cause,
    });
  }
}
