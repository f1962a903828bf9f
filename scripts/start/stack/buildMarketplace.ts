import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DeploymentRecord } from "../../../settlement/deployment.ts";
import { compiler } from "../../config/compiler.ts";
import { currentCommit } from "../../protocol/commit.ts";
import { DEFAULT_LABEL } from "../../protocol/label.ts";
import { recordOf } from "../../protocol/record.ts";
import { connectWorld } from "../../world/connectWorld.ts";
import { deployWorld } from "../../world/deployWorld.ts";
import { createNodeHost } from "../../world/hosts/nodeHost.ts";
import { populateWorld } from "../../world/populateWorld.ts";
import { type Account, termsOf } from "../../world/world.ts";
import { planMarketplace } from "../demo/planMarketplace.ts";
import type { step } from "../report.ts";
import { CHAIN_ID, type SavedChain } from "./startSavedChain.ts";

// Builds the demo's world on a new chain, and records the deployment as the deploy command does.
export async function buildMarketplace(
  begin: typeof step,
  { url, provider }: SavedChain,
  folder: string,
  operator: string,
): Promise<DeploymentRecord> {
  const host = createNodeHost<Account>(url, provider);
  const plan = planMarketplace(provider, operator);
  const contracts = await begin("real USDC and the contracts", () => deployWorld(host, plan));
  await begin("tools listed and staked, payers funded", async () =>
    populateWorld(host, plan, await connectWorld(plan)),
  );
  const record = recordOf({
    network: "local",
    chainId: CHAIN_ID,
    terms: termsOf(plan),
    label: DEFAULT_LABEL,
    contracts,
    compiler,
    commit: currentCommit(),
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(recordPath(folder), `${JSON.stringify(record, undefined, 2)}\n`);
  return record;
}

// The name under which the commands look for the record of a local chain.
export const recordPath = (folder: string) => join(folder, "local.json");
