import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { requiredAmount } from "../command/arguments.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { findTool } from "../command/findTool.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";

export default command<CommonArguments & { tool: string; price: string | undefined }>(async (args, session) => {
  const price = requiredAmount("--price", args.price);
  const deployment = await openDeployment(session);
  const { staking, addresses } = deployment;
  const { id, uuid, listing } = await findTool(deployment, args.tool);
  const needed = await staking.requiredStake(price);
  // A lower price is always possible, even for a tool whose stake is too low for it.
  if (price > listing.price && listing.stake < needed) {
    const missing = microUsdc(needed - listing.stake);
    throw new CommandError(
      `stake is ${formatUsd(microUsdc(listing.stake))}, this price needs ${formatUsd(microUsdc(needed))}: ` +
        `run stake ${uuid} --amount ${formatUsd(missing)}`,
      { tool: uuid, missingStakeUsd: formatUsd(missing) },
    );
  }
  const receipts = await send(session, {
    sentence: `Change the price of tool ${uuid} from ${formatUsd(microUsdc(listing.price))} to ${formatUsd(price)} USDC.`,
    calls: [
      {
        title: `set the price to ${formatUsd(price)} USDC`,
        to: addresses.staking,
        data: staking.interface.encodeFunctionData("setPrice", [id, price]),
      },
    ],
  });
  report(session, receipts, `The price is now ${formatUsd(price)} USDC.`, { tool: uuid, priceUsd: formatUsd(price) });
});
