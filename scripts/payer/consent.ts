import { command } from "../command/command.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";

// `consent on` and `consent off`: whether the payer can be charged under what it has signed alone. It counts at once.
export const consentCommand = (isRequired: boolean) =>
  command<CommonArguments>(async (_, session) => {
    const { router, addresses } = await openDeployment(session);
    const payer = (await session.signer()).address;
    const receipts = await send(session, {
      sentence: isRequired
        ? `Let ${payer} be charged under budgets that it has signed, and in no other way.`
        : `Let ${payer} be charged without a budget, within its spending cap.`,
      calls: [
        {
          title: isRequired ? "demand consent" : "demand no consent",
          to: addresses.router,
          data: router.interface.encodeFunctionData("setConsentRequired", [isRequired]),
        },
      ],
    });
    const outcome = isRequired ? "Nothing is charged without a signed budget now." : "No budget is needed any more.";
    report(session, receipts, outcome, { payer, consentRequired: isRequired });
  });
