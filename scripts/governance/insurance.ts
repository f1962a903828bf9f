import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { parseAmount } from "../command/arguments.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { formatCap } from "../command/format.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { report } from "../command/transaction/send.ts";
import { deliver, senderOf } from "./act.ts";
import { accept, propose } from "./beneficiary.ts";

type Arguments = CommonArguments & { set: string | undefined; propose: string | undefined; accept: boolean };

// `insurance`: what the platform absorbs, and how another account takes the place of the one that pays for it. Its
// allowance bounds what is absorbed.
export default command<Arguments>(async (args, session) => {
  const deployment = await openDeployment(session);
  if (args.propose !== undefined) return propose(session, deployment, "insurance", args.propose);
  if (args.accept) return accept(session, deployment, "insurance");
  const { usdc, addresses, record } = deployment;
  const insurance = await deployment.staking.insurance();
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
  const amount = parseAmount("--set", args.set);
  const sender = await senderOf(session, insurance);
  if (sender !== insurance) {
    throw new CommandError(`the insurance account is ${insurance}, not ${sender}: use its key with --from, or --safe`);
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
