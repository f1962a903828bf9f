import { compiler } from "../../../scripts/config/compiler.ts";
import { DEFAULT_LABEL } from "../../../scripts/protocol/label.ts";
import { recordOf } from "../../../scripts/protocol/record.ts";
import type { LocalWorld } from "../../../scripts/world/startWorld.ts";
import { type Account, type Plan, termsOf } from "../../../scripts/world/world.ts";
import { writeDeployment } from "../../../settlement/deployment.ts";

// Writes down where a world's contracts are, as the deploy command does, so that the commands work on it.
export async function recordWorld(world: LocalWorld, network: string, folder: string): Promise<void> {
  const block = await world.provider.getBlockNumber();
  const contractOf = async (contract: { getAddress(): Promise<string> }) => ({
    address: await contract.getAddress(),
    block,
    arguments: [],
  });
  const plan = { parties: world.parties, operators: world.operators, operatorLimit: 0n };
  const record = recordOf({
    network,
    chainId: world.chainId,
    terms: termsOf(plan as unknown as Plan<Account>),
    label: DEFAULT_LABEL,
    contracts: {
      manager: await contractOf(world.manager),
      staking: await contractOf(world.staking),
      bonds: await contractOf(world.bonds),
      router: await contractOf(world.router),
      receiptCourt: await contractOf(world.receiptCourt),
      jsonSchema: await contractOf(world.jsonSchema),
      schemaCourt: await contractOf(world.schemaCourt),
    },
    compiler,
    commit: "",
  });
  writeDeployment(record, folder);
}
