import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { command } from "../command/command.ts";
import { formatCap } from "../command/format.ts";
import { openDeployment } from "../command/openDeployment.ts";
import { accountOf, type CommonArguments } from "../command/session.ts";

// `spendable`: what could be charged to a payer now, and what of balance, cap and daily cap is in the way of more.
export default command<CommonArguments & { account: string | undefined }>(async (args, session) => {
  const { router } = await openDeployment(session);
  const payer = await accountOf(session, args.account);
  const { amount, balance, allowance, dailyCapLeft } = await router.spendable(payer);
  const usd = (value: bigint) => formatUsd(microUsdc(value));
  session.output.say(`${usd(amount)} USDC can be charged to ${payer} now.`);
  session.output.rows([
    ["balance", `${usd(balance)} USDC`],
    ["spending cap", formatCap(allowance)],
    ["daily cap", dailyCapLeft === 2n ** 256n - 1n ? "none" : `${usd(dailyCapLeft)} USDC left`],
  ]);
  session.output.result({
    payer,
    spendableUsd: usd(amount),
    balanceUsd: usd(balance),
    capUsd: usd(allowance),
    dailyCapLeftUsd: dailyCapLeft === 2n ** 256n - 1n ? null : usd(dailyCapLeft),
  });
});
