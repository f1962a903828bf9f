import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import { command } from "../../command/command.ts";
import { formatTime } from "../../command/format.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import { accountOf, type CommonArguments } from "../../command/session.ts";
import { parseBudgetId } from "./budgetId.ts";

// `budget show`: a budget as the chain knows it. What was signed and not yet settled, only the marketplace knows.
export default command<CommonArguments & { budget: string; account: string | undefined }>(async (args, session) => {
  const id = parseBudgetId("the budget", args.budget);
  const { router } = await openDeployment(session);
  const payer = await accountOf(session, args.account);
  const { budget } = await router.budgetOf(payer, id);
  const { maxSpend, spent, validUntil, endsAt, isForTools } = budget;
  const { output } = session;
  if (maxSpend === 0n && endsAt === 0n) {
    output.say(`The chain does not know budget ${id} of ${payer}: nothing was settled under it yet.`);
    output.result({ payer, budget: id.toString(), maxSpendUsd: null });
    return;
  }
  const usd = (amount: bigint) => formatUsd(microUsdc(amount));
  output.say(`Of budget ${id} of ${payer}, ${usd(spent)} of ${usd(maxSpend)} USDC are spent.`);
  output.rows([
    ["until", formatTime(validUntil)],
    ["ended", endsAt === 0n ? "no" : `delivered work is settled until ${formatTime(endsAt)}`],
    ["tools", isForTools ? "some" : "all"],
  ]);
  output.result({
    payer,
    budget: id.toString(),
    maxSpendUsd: usd(maxSpend),
    spentUsd: usd(spent),
    validUntil: validUntil.toString(),
    endsAt: endsAt === 0n ? null : endsAt.toString(),
    isForTools,
  });
});
