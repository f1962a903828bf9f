import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { requiredAmount } from "../command/arguments.ts";
import { command } from "../command/command.ts";
import { findTool } from "../command/findTool.ts";
import { formatTime } from "../command/format.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { Row } from "../command/output.ts";
import type { CommonArguments } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";

export default command<CommonArguments & { tool: string; amount: string | undefined }>(async (args, session) => {
  const amount = requiredAmount("--amount", args.amount);
  const deployment = await openDeployment(session);
  const { staking, addresses } = deployment;
  const { id, uuid, listing } = await findTool(deployment, args.tool);
  const needed = await staking.requiredStake(listing.price);
  const remaining = listing.stake - amount;
  const warning: Row[] =
    remaining < needed && remaining >= 0n
      ? [
          [
            "note",
            `the tool stops earning: ${formatUsd(microUsdc(remaining))} is below ${formatUsd(microUsdc(needed))}`,
          ],
        ]
      : [];
  const receipts = await send(session, {
    sentence: `Request the withdrawal of ${formatUsd(amount)} USDC from the stake of tool ${uuid}.`,
    rows: warning,
    calls: [
      {
        title: `request ${formatUsd(amount)} USDC`,
        to: addresses.staking,
        data: staking.interface.encodeFunctionData("requestWithdrawal", [id, amount]),
      },
    ],
  });
  const { readyAt } = await staking.tool(id);
  report(
    session,
    receipts,
    `${formatUsd(amount)} USDC can be withdrawn from ${formatTime(readyAt)} on: run withdraw.`,
    {
      tool: uuid,
      amountUsd: formatUsd(amount),
      readyAt: Number(readyAt),
    },
  );
});
