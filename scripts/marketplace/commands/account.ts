import { printable } from "../../command/printable.ts";
import type { Session } from "../../command/session.ts";

// What a marketplace says of an account beside its keys.
export type Account = {
  wallet: string;
  favoritesOnly: boolean;
  favorites: string[];
  linkedWallets: { wallet: string; linkedAt: string }[];
};

export function accountFrom(body: Record<string, unknown>): Account {
  const { wallet, favoritesOnly, favorites, linkedWallets } = body as unknown as Account;
  return {
    wallet: printable(`${wallet}`),
    favoritesOnly: favoritesOnly === true,
    favorites: favorites.map((id) => printable(`${id}`)),
    linkedWallets: linkedWallets.map((linked) => ({
      wallet: printable(`${linked.wallet}`),
      linkedAt: printable(`${linked.linkedAt}`),
    })),
  };
}

export function showWallets({ output }: Session, { linkedWallets }: Account): void {
  if (linkedWallets.length === 0) output.say("No wallet is linked: tools look at the account's own.");
  else output.say("Linked wallets, oldest first; tools look at the last one");
  output.rows(linkedWallets.map(({ wallet, linkedAt }) => [wallet, `linked ${linkedAt}`]));
  output.result(linkedWallets);
}

export function showFavorites({ output }: Session, { favorites, favoritesOnly }: Account): void {
  if (favorites.length === 0) output.say("There are no favourites: run favorite add.");
  else output.say(`Favourites${favoritesOnly ? ", among which alone searches look" : ""}`);
  for (const id of favorites) output.say(`  ${id}`);
  output.result({ favorites, favoritesOnly });
}
