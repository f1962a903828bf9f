import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { parseAddress } from "../command/arguments.ts";
import { command } from "../command/command.ts";
import { findTool } from "../command/findTool.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";

export default command<CommonArguments & { tool: string; to: string | undefined }>(async (args, session) => {
  const deployment = await openDeployment(session);
  const { staking, addresses } = deployment;
  const { id, uuid, listing } = await findTool(deployment, args.tool);
  const to = args.to === undefined ? (await session.signer()).address : parseAddress("--to", args.to);
  const amount = formatUsd(microUsdc(listing.withdrawing));
  const receipts = await send(session, {
    sentence: `Withdraw ${amount} USDC of the stake of tool ${uuid} to ${to}.`,
    calls: [
      {
        title: "withdraw",
        to: addresses.staking,
        data: staking.interface.encodeFunctionData("withdraw", [id, to]),
      },
    ],
  });
  report(session, receipts, `${amount} USDC were sent to ${to}.`, { tool: uuid, to, amountUsd: amount });
});
