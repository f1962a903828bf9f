import { isAddress } from "viem";
import { CommandError } from "../../../command/CommandError.ts";
import { command } from "../../../command/command.ts";
import type { CommonArguments } from "../../../command/session.ts";
import { accountFrom, showWallets } from "../account.ts";
import { withLogin } from "../withLogin.ts";

type Arguments = CommonArguments & { wallet: string; marketplace: string | undefined };

export default command<Arguments>(async (args, session) => {
  const { wallet } = args;
  if (!isAddress(wallet, { strict: false })) {
    throw new CommandError("the wallet is wrong: give its address, as wallet list shows it");
  }
  const path = `/api/v1/wallets?wallet=${wallet}`;
  const { body } = await withLogin(session, args.marketplace, (ask) => ask("DELETE", path));
  showWallets(session, accountFrom(body));
});
