import type { DeploymentRecord } from "../../settlement/deployment.ts";
import { CREATE2_PROXY, CREATE2_PROXY_CODE, creationCallOf, planDeployment } from "../protocol/create2.ts";
import { handoverCallOf } from "../protocol/description.ts";
import { DEFAULT_LABEL } from "../protocol/label.ts";
import { mined } from "./mined.ts";
import { placeUsdc } from "./placeUsdc.ts";
import { type Account, type Host, type Plan, termsOf, USDC_ADDRESS } from "./world.ts";

// Puts the real USDC where Base has it, and the contracts where the deploy command would put them, so that every command
// of payers, developers and operators works on this chain as it does on Base.
export async function deployWorld<A extends Account>(
  { provider }: Host<A>,
  plan: Plan<A>,
): Promise<DeploymentRecord["contracts"]> {
  const terms = termsOf(plan);
  const { deployer } = plan.parties;
  await placeUsdc(provider, plan.circle, USDC_ADDRESS);
  if ((await provider.getCode(CREATE2_PROXY)) === "0x") {
    await provider.send("hardhat_setCode", [CREATE2_PROXY, CREATE2_PROXY_CODE]);
  }
  const { addresses, contracts } = planDeployment(terms, DEFAULT_LABEL);
  const created: Partial<DeploymentRecord["contracts"]> = {};
  for (const contract of contracts) {
    const { to, data } = creationCallOf(contract);
    const { blockNumber: block } = await mined(deployer.sendTransaction({ to, data }));
    created[contract.key] = { address: contract.address, block, arguments: contract.arguments };
  }
  await mined(deployer.sendTransaction({ to: addresses.manager, data: handoverCallOf(terms, addresses) }));
  return created as DeploymentRecord["contracts"];
}
