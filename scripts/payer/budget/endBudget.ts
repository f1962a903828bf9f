import { CommandError } from "../../command/CommandError.ts";
import { command } from "../../command/command.ts";
import { formatTime } from "../../command/format.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { report, send } from "../../command/transaction/send.ts";
import { parseBudgetId } from "./budgetId.ts";

// `budget end`: takes back what was signed. What was delivered before can still be settled for a day.
export default command<CommonArguments & { budget: string }>(async (args, session) => {
  const id = parseBudgetId("the budget", args.budget);
  const { router, addresses } = await openDeployment(session);
  const payer = (await session.signer()).address;
  const before = (await router.budgetOf(payer, id)).budget.endsAt;
  if (before !== 0n) throw new CommandError(`budget ${id} was ended before, as of ${formatTime(before)}`);
  const receipts = await send(session, {
    sentence: `End budget ${id} of ${payer}, whatever was signed under it. Delivered work can be settled for another day.`,
    calls: [
      {
        title: "end the budget",
        to: addresses.router,
        data: router.interface.encodeFunctionData("endBudget", [id]),
      },
    ],
  });
  const { endsAt } = (await router.budgetOf(payer, id)).budget;
  report(session, receipts, `Budget ${id} ends at ${formatTime(endsAt)}.`, {
    payer,
    budget: id.toString(),
    endsAt: endsAt.toString(),
  });
});
