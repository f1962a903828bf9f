import { ZeroAddress } from "ethers";
import { toolIdFromUuid, uuidFromToolId } from "../../settlement/domain/toolId.ts";
import type { IToolStaking } from "../../typechain-types/contracts/interfaces/IToolStaking.ts";
import { CommandError } from "./CommandError.ts";
import type { Deployment } from "./openDeployment.ts";

export type ListedTool = { id: string; uuid: string; listing: IToolStaking.ToolStructOutput };

export async function findTool({ staking }: Deployment, text: string): Promise<ListedTool> {
  const id = toolIdFromUuid(text);
  const listing = await staking.tool(id);
  if (listing.owner === ZeroAddress) {
    throw new CommandError(`there is no tool ${uuidFromToolId(id)} on this network: my-tools shows yours`);
  }
  return { id, uuid: uuidFromToolId(id), listing };
}
