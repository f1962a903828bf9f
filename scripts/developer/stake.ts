import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { requiredAmount } from "../command/arguments.ts";
import { command } from "../command/command.ts";
import { findTool } from "../command/findTool.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { approvalCalls } from "../command/transaction/approval.ts";
import { report, send } from "../command/transaction/send.ts";

export default command<CommonArguments & { tool: string; amount: string | undefined }>(async (args, session) => {
  const amount = requiredAmount("--amount", args.amount);
  const deployment = await openDeployment(session);
  const { staking, addresses } = deployment;
  const { id, uuid } = await findTool(deployment, args.tool);
  const from = (await session.signer()).address;
  const receipts = await send(session, {
    sentence: `Stake ${formatUsd(amount)} USDC for tool ${uuid}.`,
    calls: [
      ...(await approvalCalls(deployment, from, addresses.staking, amount)),
      {
        title: `stake ${formatUsd(amount)} USDC`,
        to: addresses.staking,
        data: staking.interface.encodeFunctionData("stake", [id, amount]),
      },
    ],
  });
  const stake = formatUsd(microUsdc((await staking.tool(id)).stake));
  report(session, receipts, `The stake is now ${stake} USDC.`, { tool: uuid, stakeUsd: stake });
});
