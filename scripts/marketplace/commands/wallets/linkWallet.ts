import { isAddress } from "viem";
import { linkStatement } from "../../../../marketplace/accounts/signIn.ts";
import { CommandError } from "../../../command/CommandError.ts";
import { command } from "../../../command/command.ts";
import { printable } from "../../../command/printable.ts";
import type { CommonArguments } from "../../../command/session.ts";
import { environment } from "../../../config/environment.ts";
import { openMarketplace } from "../openMarketplace.ts";
import { openWallet } from "../openWallet.ts";

type Arguments = CommonArguments & { marketplace: string | undefined };

// Signed by the wallet that is linked; the account says yes with a key of its own. The two are rarely in one place.
export default command<Arguments>(async (args, session) => {
  const key = environment.marketplaceApiKey;
  if (!key) {
    throw new CommandError(
      "MARKETPLACE_API_KEY is missing: set it to a key of the account that the wallet is linked to; --from is the wallet",
    );
  }
  const marketplace = openMarketplace(session, args.marketplace);
  const { ask } = marketplace;
  const { body: own } = await ask("GET", "/api/v1/account", undefined, { key });
  const account = `${own.wallet}`;
  if (!isAddress(account)) throw new CommandError(`the marketplace names no account: ${printable(account)}`);
  const wallet = await openWallet(session, marketplace, linkStatement(account));
  const asked = { wallet: wallet.address, linkTo: account };
  const { body: challenge } = await ask("POST", "/api/v1/auth/challenge", asked, { key: null });
  const message = `${challenge.message}`;
  const signature = await wallet.signMessage(message);
  await ask("POST", "/api/v1/wallets", { message, signature }, { key });
  session.output.say(`Linked ${wallet.address} to ${account}: tools look at it, and nobody can charge it.`);
  session.output.result({ account, wallet: wallet.address.toLowerCase() });
});
