import { formatUsd, microUsdc, smaller } from "../../../settlement/domain/money.ts";
import { command } from "../../command/command.ts";
import { formatTime } from "../../command/format.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import { accountOf, type CommonArguments } from "../../command/session.ts";

// `balance`: what a payer has paid in advance, and what of it was asked back.
export default command<CommonArguments & { account: string | undefined }>(async (args, session) => {
  const { router } = await openDeployment(session);
  const payer = await accountOf(session, args.account);
  const [{ balance, refunding, readyAt }, consentRequired] = await Promise.all([
    router.prepaidOf(payer),
    router.consentRequired(payer),
  ]);
  const usd = (amount: bigint) => formatUsd(microUsdc(amount));
  const asked = smaller(refunding, balance);
  session.output.say(`${payer} has ${usd(balance)} USDC prepaid.`);
  session.output.rows([
    ["asked back", readyAt === 0n ? "nothing" : `${usd(asked)} USDC, ready at ${formatTime(readyAt)}`],
    ["consent", consentRequired ? "demanded" : "not demanded"],
  ]);
  session.output.result({
    payer,
    prepaidUsd: usd(balance),
    refundingUsd: usd(asked),
    readyAt: readyAt === 0n ? null : readyAt.toString(),
    consentRequired,
  });
});
