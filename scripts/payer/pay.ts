import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { parseAmount, requiredAmount } from "../command/arguments.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { findTool } from "../command/findTool.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";

type Arguments = CommonArguments & { tool: string; amount: string | undefined; modelCost: string };

// `pay`: pays for a tool directly, without an operator, out of the payer's own spending cap.
export default command<Arguments>(async (args, session) => {
  const amount = requiredAmount("--amount", args.amount);
  const modelCost = parseAmount("--model-cost", args.modelCost);
  const total = microUsdc(amount + modelCost);
  const deployment = await openDeployment(session);
  const { router, addresses } = deployment;
  const { id, uuid } = await findTool(deployment, args.tool);
  const payer = (await session.signer()).address;
  const spendable = microUsdc((await router.spendable(payer)).amount);
  if (spendable < total) {
    throw new CommandError(
      `${formatUsd(spendable)} USDC can be charged to ${payer} and ${formatUsd(total)} are needed: ` +
        "spendable shows what is in the way",
    );
  }
  const receipts = await send(session, {
    sentence: `Pay ${formatUsd(total)} USDC for tool ${uuid}.`,
    calls: [
      {
        title: `pay ${formatUsd(total)} USDC`,
        to: addresses.router,
        data: router.interface.encodeFunctionData("pay", [id, amount, modelCost]),
      },
    ],
  });
  report(session, receipts, `${formatUsd(total)} USDC were paid.`, { payer, tool: uuid, paidUsd: formatUsd(total) });
});
