import { parseAddress, required } from "../command/arguments.ts";
import { command } from "../command/command.ts";
import { findTool } from "../command/findTool.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";

export default command<CommonArguments & { tool: string; payout: string | undefined }>(async (args, session) => {
  const payout = parseAddress("--payout", required("--payout", args.payout));
  const deployment = await openDeployment(session);
  const { staking, addresses } = deployment;
  const { id, uuid, listing } = await findTool(deployment, args.tool);
  const receipts = await send(session, {
    sentence: `Credit later earnings of tool ${uuid} to ${payout}. What was earned so far stays with ${listing.payout}.`,
    calls: [
      {
        title: `set the payout to ${payout}`,
        to: addresses.staking,
        data: staking.interface.encodeFunctionData("setPayout", [id, payout]),
      },
    ],
  });
  report(session, receipts, `Later earnings are credited to ${payout}.`, { tool: uuid, payout });
});
