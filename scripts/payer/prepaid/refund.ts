import { formatUsd, microUsdc, smaller } from "../../../settlement/domain/money.ts";
import { parseAddress, parseAmount } from "../../command/arguments.ts";
import { CommandError } from "../../command/CommandError.ts";
import { command } from "../../command/command.ts";
import { formatTime } from "../../command/format.ts";
import { type Deployment, openDeployment } from "../../command/openDeployment.ts";
import { type CommonArguments, type Session, timeOf } from "../../command/session.ts";
import { report, send } from "../../command/transaction/send.ts";

type Arguments = CommonArguments & { ask: string | undefined; to: string | undefined };

// `refund`: asks prepaid money back with --ask, and two days later takes what of it was not drawn meanwhile.
export default command<Arguments>(async (args, session) => {
  const deployment = await openDeployment(session);
  if (args.ask !== undefined) return ask(session, deployment, args.ask);
  const { router, addresses } = deployment;
  const payer = (await session.signer()).address;
  const to = args.to === undefined ? payer : parseAddress("--to", args.to);
  const { balance, refunding, readyAt } = await router.prepaidOf(payer);
  if (readyAt === 0n) throw new CommandError("nothing was asked back: ask first, with refund --ask 10");
  const now = await timeOf(session);
  if (now < readyAt) {
    throw new CommandError(`the refund is ready at ${formatTime(readyAt)}: until then delivered work may draw on it`);
  }
  const amount = formatUsd(microUsdc(smaller(refunding, balance)));
  const receipts = await send(session, {
    sentence: `Send ${amount} USDC of the prepaid balance of ${payer} to ${to}.`,
    calls: [
      { title: "take the refund", to: addresses.router, data: router.interface.encodeFunctionData("refund", [to]) },
    ],
  });
  report(session, receipts, `${amount} USDC were refunded.`, { payer, to, refundedUsd: amount });
});

async function ask(session: Session, { router, addresses }: Deployment, text: string): Promise<void> {
  const amount = parseAmount("--ask", text);
  const payer = (await session.signer()).address;
  const balance = microUsdc((await router.prepaidOf(payer)).balance);
  if (amount > balance) throw new CommandError(`the prepaid balance is ${formatUsd(balance)} USDC: ask for less`);
  const receipts = await send(session, {
    sentence:
      amount === 0n
        ? `Take back what ${payer} has asked back of its prepaid balance.`
        : `Ask ${formatUsd(amount)} USDC of the prepaid balance of ${payer} back.`,
    calls: [
      {
        title: "ask for a refund",
        to: addresses.router,
        data: router.interface.encodeFunctionData("requestRefund", [amount]),
      },
    ],
  });
  const { readyAt } = await router.prepaidOf(payer);
  const outcome =
    amount === 0n
      ? "Nothing is asked back any more."
      : `The refund is ready at ${formatTime(readyAt)}: run refund then.`;
  report(session, receipts, outcome, {
    payer,
    refundingUsd: formatUsd(amount),
    readyAt: readyAt === 0n ? null : readyAt.toString(),
  });
}
