import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { parseAmount } from "../command/arguments.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { type Deployment, openDeployment } from "../command/openDeployment.ts";
import { accountOf, type CommonArguments, type Session } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";

type Arguments = CommonArguments & { set: string | undefined; lift: boolean; account: string | undefined };

// The router keeps a cap in 48 bits.
const LARGEST_CAP = microUsdc(2n ** 40n - 1n);

// `daily-cap`: what may be taken from a payer in any 24 hours, whatever the spending cap still allows.
export default command<Arguments>(async (args, session) => {
  const deployment = await openDeployment(session);
  if (args.set === undefined && !args.lift) {
    return show(session, deployment, await accountOf(session, args.account ?? args.from));
  }
  if (args.set !== undefined && args.lift) throw new CommandError("either --set or --lift, not both");
  const cap = args.set === undefined ? microUsdc(0n) : parseAmount("--set", args.set);
  if (!args.lift && cap === 0n) {
    throw new CommandError("a daily cap of 0 means none: use --lift for that, or cap --set 0 to stop all spending");
  }
  if (cap > LARGEST_CAP)
    throw new CommandError(`the largest daily cap is ${formatUsd(LARGEST_CAP)}: use --lift for none`);
  const { router, addresses } = deployment;
  const payer = (await session.signer()).address;
  const receipts = await send(session, {
    sentence: args.lift
      ? `Lift the daily cap of ${payer}.`
      : `Let no more than ${formatUsd(cap)} USDC be taken from ${payer} in any 24 hours.`,
    calls: [
      {
        title: args.lift ? "lift the daily cap" : "set the daily cap",
        to: addresses.router,
        data: args.lift
          ? router.interface.encodeFunctionData("liftDailyCap")
          : router.interface.encodeFunctionData("setDailyCap", [cap]),
      },
    ],
  });
  report(session, receipts, args.lift ? "There is no daily cap now." : `The daily cap is now ${formatUsd(cap)} USDC.`, {
    payer,
    dailyCapUsd: args.lift ? null : formatUsd(cap),
  });
});

async function show({ output }: Session, { router }: Deployment, payer: string): Promise<void> {
  const { cap, left } = await router.dailyCap(payer);
  if (cap === 0n) {
    output.say(`${payer} has no daily cap.`);
    output.result({ payer, dailyCapUsd: null, leftUsd: null });
    return;
  }
  const [capUsd, leftUsd] = [formatUsd(microUsdc(cap)), formatUsd(microUsdc(left))];
  output.say(`The daily cap of ${payer} is ${capUsd} USDC, of which ${leftUsd} are left.`);
  output.result({ payer, dailyCapUsd: capUsd, leftUsd });
}
