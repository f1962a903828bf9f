import { formatUsd, parseUsd } from "../../settlement/domain/money.ts";
import { IFiatToken__factory } from "../../typechain-types/index.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import type { CommonArguments } from "../command/session.ts";
import { placeUsdc } from "./placeUsdc.ts";

// `prepare-local`: makes a fresh anvil a place to rehearse: the real USDC where Base has it, and some of it in every
// account of the node. The last of these plays Circle, and the rehearsals leave it alone.
export default command<CommonArguments & { amount: string }>(async ({ amount }, session) => {
  const { network, provider, settings, output, hre } = session;
  if (network !== "local") throw new CommandError("Only a local chain can be prepared: add --network local.");
  const share = parseUsd(amount);
  const { ethers } = await hre.network.create(network);
  const accounts = await ethers.getSigners();
  const owner = accounts.at(-1);
  if (!owner) throw new CommandError("The node has no accounts: start anvil with its defaults.");
  const exists = (await provider.getCode(settings.usdc)) !== "0x";
  const usdc = exists
    ? IFiatToken__factory.connect(settings.usdc, owner)
    : await placeUsdc(provider, owner, settings.usdc);
  for (const { address } of accounts) await (await usdc.mint(address, share)).wait();
  output.say(
    `USDC is at ${settings.usdc}, and each of the node's ${accounts.length} accounts got ${formatUsd(share)}.`,
  );
  output.result({ usdc: settings.usdc, accounts: accounts.map(({ address }) => address), amountUsd: formatUsd(share) });
});
