import { SIGN_IN } from "../../../marketplace/accounts/signIn.ts";
import type { Ask } from "../../client/createClient.ts";
import type { Session } from "../../command/session.ts";
import { signIn } from "../asWallet.ts";
import { openMarketplace } from "./openMarketplace.ts";
import { openWallet } from "./openWallet.ts";

// Asks a marketplace as the account that signs. The login ends with the work, so that nobody finds it later.
export async function withLogin<Answer>(
  session: Session,
  option: string | undefined,
  work: (ask: Ask) => Promise<Answer>,
): Promise<Answer> {
  const marketplace = openMarketplace(session, option);
  const { ask } = marketplace;
  const key = await signIn(ask, await openWallet(session, marketplace, SIGN_IN));
  try {
    return await work((method, path, body) => ask(method, path, body, { key }));
  } finally {
    // It ends by itself within the hour if this is not heard.
    await ask("POST", "/api/v1/auth/logout", {}, { key }).catch(() => undefined);
  }
}
