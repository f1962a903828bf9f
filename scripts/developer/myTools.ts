import { uuidFromToolId } from "../../settlement/domain/toolId.ts";
import { command } from "../command/command.ts";
import { findTool } from "../command/findTool.ts";
import { type Deployment, openDeployment } from "../command/openDeployment.ts";
import { readLogs } from "../command/readLogs.ts";
import { accountOf, type CommonArguments, type Session } from "../command/session.ts";
import { describeTool, type ToolStatus } from "./describeTool.ts";

export default command<CommonArguments & { account: string | undefined }>(async (args, session) => {
  const deployment = await openDeployment(session);
  const account = await accountOf(session, args.account);
  const tools: ToolStatus[] = [];
  for (const id of await everOwned(session, deployment, account)) {
    const tool = await findTool(deployment, uuidFromToolId(id));
    if (tool.listing.owner === account) tools.push(await describeTool(session, deployment, tool));
  }
  const { output } = session;
  output.say(tools.length === 0 ? `${account} has no tools: run list-tool.` : `Tools of ${account}`);
  for (const { tool, priceUsd, stakeUsd, requiredStakeUsd, payable, earnedUsd } of tools) {
    output.rows([
      [
        tool,
        `price ${priceUsd}, stake ${stakeUsd} of ${requiredStakeUsd}, earned ${earnedUsd}${payable ? "" : "; stake too low"}`,
      ],
    ]);
  }
  output.result(tools);
});

// The tools that the account listed or took over; some may have gone to somebody else since.
async function everOwned({ provider }: Session, { staking, record }: Deployment, account: string): Promise<string[]> {
  const { address, block } = record.contracts.staking;
  const { interface: abi } = staking;
  const listed = await readLogs(provider, address, abi.encodeFilterTopics("ToolListed", [null, account]), block);
  const takenOver = abi.encodeFilterTopics("OwnershipTransferred", [null, null, account]);
  const logs = [...listed, ...(await readLogs(provider, address, takenOver, block))];
  const ids = logs.flatMap((log) => (abi.parseLog(log)?.args.toolId as string | undefined) ?? []);
  return [...new Set(ids)];
}
