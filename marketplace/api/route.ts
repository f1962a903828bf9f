import type { Address } from "viem";
import type { Clock } from "../../settlement/clock.ts";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import { type Route, routeFor } from "../../settlement/daemon/http/route.ts";
import type { SignIn } from "../accounts/signIn.ts";
import type { Store } from "../database/openStore.ts";
import type { Catalogue } from "../discovery/createCatalogue.ts";
import type { ExecuteOnce } from "../execute/createExecuteOnce.ts";
import type { Sessions } from "../execute/createSessions.ts";
import type { OpenedQuery } from "../query/openQuery.ts";
import type { Registry } from "../registry/createRegistry.ts";
import type { SettlementClient } from "../settlement/createSettlementClient.ts";

// Who asks: an account, by one of its API keys or right after its wallet has signed in; or anybody.
export type Caller = { kind: "account"; account: Address; by: "key" | "login" } | { kind: "anybody" };

// `anybody` needs no secret, but one that is shown must be right. `login` is for what a stolen API key must not do.
export type Access = "anybody" | "account" | "login";

// What handlers work with.
export type Services = {
  store: Store;
  clock: Clock;
  signIn: SignIn;
  registry: Registry;
  catalogue: Catalogue;
  sessions: Sessions;
  executeOnce: ExecuteOnce;
  budgets: Pick<SettlementClient, "keepBudget" | "listBudgets" | "readFunds">;
  receipts: Pick<SettlementClient, "receiptsOf">;
  query: OpenedQuery;
  jwks: () => Promise<{ keys: object[] }>;
  // How many accounts there may be that were never charged for anything.
  maxFreeAccounts: number;
  publicUrl: string;
  helpUrl: string | null;
};

export type MarketRoute = Route<Caller, Services, Access>;

export const route = routeFor<Caller, Services, Access>();

export function accountOf(caller: Caller): Address {
  if (caller.kind === "account") return caller.account;
  throw new ApiError("unauthorized", "send a header Authorization: Bearer with your API key");
}
