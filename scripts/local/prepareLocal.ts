import { formatUsd } from "../../settlement/domain/money.ts";
import { parseAmount } from "../command/arguments.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import type { CommonArguments } from "../command/session.ts";
import { shareUsdc } from "../world/shareUsdc.ts";

// `prepare-local`: makes a fresh anvil a place to rehearse: the real USDC where Base has it, and some of it in every
// account of the node. The last of these plays Circle, and the rehearsals leave it alone.
export default command<CommonArguments & { amount: string }>(async ({ amount }, session) => {
  const { network, provider, settings, output, hre } = session;
  if (network !== "local") throw new CommandError("only a local chain can be prepared: add --network local");
  const share = parseAmount("--amount", amount);
  const { ethers } = await hre.network.create(network);
  const accounts = await ethers.getSigners();
  const owner = accounts.at(-1);
  if (!owner) throw new CommandError("the node has no accounts: start anvil with its defaults");
  await shareUsdc(provider, owner, accounts, share);
  output.say(
    `USDC is at ${settings.usdc}, and each of the node's ${accounts.length} accounts got ${formatUsd(share)}.`,
  );
  output.result({ usdc: settings.usdc, accounts: accounts.map(({ address }) => address), amountUsd: formatUsd(share) });
});
