import { formatUsd, microUsdc, parseUsd } from "../../settlement/domain/money.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { openDeployment } from "../command/deployment.ts";
import { report } from "../command/send.ts";
import type { CommonArguments } from "../command/session.ts";
import { formatCap } from "../payer/formatCap.ts";
import { deliver, senderOf } from "./act.ts";

// `insurance`: the account that pays for absorbed charges approves the router like any payer. Its allowance bounds what
// the platform absorbs.
export default command<CommonArguments & { set: string | undefined }>(async (args, session) => {
  const { usdc, addresses, record } = await openDeployment(session);
  const { insurance } = record.parties;
  const [allowance, balance] = await Promise.all([
    usdc.allowance(insurance, addresses.router),
    usdc.balanceOf(insurance),
  ]);
  if (args.set === undefined) {
    session.output.say(`The platform absorbs charges of up to ${formatCap(allowance)} out of ${insurance}.`);
    session.output.rows([["balance", `${formatUsd(microUsdc(balance))} USDC`]]);
    session.output.result({
      insurance,
      allowanceUsd: formatUsd(microUsdc(allowance)),
      balanceUsd: formatUsd(microUsdc(balance)),
    });
    return;
  }
  const amount = parseUsd(args.set);
  const sender = await senderOf(session, insurance);
  if (sender !== insurance) {
    throw new CommandError(
      `The insurance account is ${insurance}, not ${sender}: use its key with --from, or --safe. Nothing was sent.`,
    );
  }
  const receipts = await deliver(session, sender, {
    sentence: `Let the platform absorb charges of up to ${formatUsd(amount)} USDC out of ${insurance}.`,
    calls: [
      {
        title: `approve ${formatUsd(amount)} USDC`,
        to: record.usdc,
        data: usdc.interface.encodeFunctionData("approve", [addresses.router, amount]),
      },
    ],
  });
  if (!receipts) return;
  report(session, receipts, `The allowance is now ${formatUsd(amount)} USDC.`, {
    insurance,
    allowanceUsd: formatUsd(amount),
  });
});
