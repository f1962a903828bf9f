import type { DeploymentRecord } from "../../settlement/deployment.ts";
import { ADMIN_DELAY_SECONDS, type Terms } from "./description.ts";
import { BOND_PARAMETERS, PARAMETERS } from "./parameters.ts";

// What is to be written down of a deployment on these terms.
export function recordOf({
  terms,
  ...known
}: Pick<DeploymentRecord, "network" | "chainId" | "label" | "contracts" | "compiler" | "commit"> & {
  terms: Terms;
}): DeploymentRecord {
  const { operatorLimit, ...parties } = terms.parties;
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
    parameters: Object.fromEntries(
      Object.entries({ ...PARAMETERS, ...BOND_PARAMETERS }).map(([name, { initial }]) => [name, initial.toString()]),
    ),
    compiler: known.compiler,
    commit: known.commit,
  };
}
