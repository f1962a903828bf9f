import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DeploymentRecord } from "../../settlement/deployment.ts";
import { compiler } from "../compiler.ts";
import { currentCommit } from "../deploy/commit.ts";
import { creationCallOf, planDeployment } from "../deploy/create2.ts";
import { handoverCallOf, type Terms } from "../deploy/description.ts";
import { DEFAULT_LABEL } from "../deploy/label.ts";
import { recordOf } from "../deploy/record.ts";
import { placeUsdc } from "../local/placeUsdc.ts";
import { NETWORKS } from "../networks.ts";
import { FUNDS, PARTIES } from "./demo/people.ts";
import type { LocalChain } from "./startChain.ts";
import { CHAIN_ID } from "./startChain.ts";

// Puts the real USDC where Base has it, and the contracts where the deploy command would put them, so that every command
// of payers, developers and operators works on this chain as it does on Base.
export async function deployLocal(chain: LocalChain, folder: string, operator: string): Promise<DeploymentRecord> {
  const { provider } = chain;
  const accountOf = (name: keyof typeof PARTIES) => chain.accounts[PARTIES[name]] ?? "";
  const { usdc } = NETWORKS.local;
  await placeUsdc(provider, await provider.getSigner(accountOf("tokenOwner")), usdc);

  const terms: Terms = {
    deployer: accountOf("deployer"),
    usdc,
    parties: {
      admin: accountOf("admin"),
      treasury: accountOf("treasury"),
      insurance: accountOf("insurance"),
      guardian: accountOf("guardian"),
      adjudicator: accountOf("adjudicator"),
      operator,
      operatorLimit: FUNDS.operatorLimit,
    },
  };
  const deployer = await provider.getSigner(terms.deployer);
  const { addresses, contracts } = planDeployment(terms, DEFAULT_LABEL);
  const created = [];
  for (const contract of contracts) {
    const { to, data } = creationCallOf(contract);
    const receipt = await (await deployer.sendTransaction({ to, data })).wait();
    created.push({
      address: contract.address,
      block: receipt?.blockNumber ?? 0,
      arguments: contract.arguments,
    });
  }
  await (await deployer.sendTransaction({ to: addresses.manager, data: handoverCallOf(terms, addresses) })).wait();

  const [manager, staking, router] = created;
  if (!manager || !staking || !router) throw new Error("A plan has three contracts");
  const record = recordOf({
    network: "local",
    chainId: CHAIN_ID,
    terms,
    label: DEFAULT_LABEL,
    contracts: { manager, staking, router },
    compiler,
    commit: currentCommit(),
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(recordPath(folder), `${JSON.stringify(record, undefined, 2)}\n`);
  return record;
}

// The name under which the commands look for the record of a local chain.
export const recordPath = (folder: string) => join(folder, "local.json");
