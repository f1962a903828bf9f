import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { command } from "../command/command.ts";
import { findTool } from "../command/findTool.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";

export default command<CommonArguments & { tool: string }>(async (args, session) => {
  const deployment = await openDeployment(session);
  const { staking, addresses } = deployment;
  const { id, uuid, listing } = await findTool(deployment, args.tool);
  const receipts = await send(session, {
    sentence: `Let the ${formatUsd(microUsdc(listing.withdrawing))} USDC on their way out of tool ${uuid} count as stake again.`,
    calls: [
      {
        title: "cancel the withdrawal",
        to: addresses.staking,
        data: staking.interface.encodeFunctionData("cancelWithdrawal", [id]),
      },
    ],
  });
  const stake = formatUsd(microUsdc((await staking.tool(id)).stake));
  report(session, receipts, `The stake is ${stake} USDC again.`, { tool: uuid, stakeUsd: stake });
});
