import type { SignIn } from "../accounts/signIn.ts";
import type { Services } from "../api/route.ts";
import type { MarketConfig } from "../config.ts";
import { createCatalogue } from "../discovery/createCatalogue.ts";
import { type OpenExecuteOptions, type OpenedExecute, openExecute } from "../execute/openExecute.ts";
import type { PaidCalls } from "../execute/paidCalls.ts";
import { type OpenQueryOptions, openQuery } from "../query/openQuery.ts";
import { createRegistry, type RegistryOptions } from "../registry/createRegistry.ts";
import { createJudge } from "../schema/createJudge.ts";
import type { Signer } from "../signing/createSigner.ts";

export type ServicesOptions = Omit<PaidCalls, "catalogue" | "judge" | "sign"> &
  Omit<OpenExecuteOptions, keyof PaidCalls> &
  Omit<OpenQueryOptions, keyof PaidCalls | "observer"> &
  Pick<MarketConfig, "searchPlaces" | "maxFreeAccounts"> &
  Pick<Services, "jwks" | "helpUrl"> & {
    chain: RegistryOptions["chain"];
    signIn: SignIn;
    // Tokens for tools, whoever asks them.
    sign: Signer["sign"];
  };

// What the routes work with, put together in one place for the process and for tests, which bring a chain and limits of their own.
export function openServices(options: ServicesOptions): { services: Services; execute: OpenedExecute } {
  const { store, clock, chain, signIn, mcp, sign, settlement } = options;
  const judge = createJudge();
  const catalogue = createCatalogue(store, { places: options.searchPlaces });
  const registry = createRegistry({ store, clock, chain, signIn, mcp, judge, sign, changed: catalogue.apply });
  const paidCalls = { ...options, catalogue, judge };
  const execute = openExecute(paidCalls);
  const query = openQuery({ ...paidCalls, observer: execute.observer });
  return {
    execute,
    services: {
      store,
      clock,
      signIn,
      registry,
      catalogue,
      sessions: execute.sessions,
      executeOnce: execute.executeOnce,
      budgets: settlement,
      receipts: settlement,
      query,
      jwks: options.jwks,
      maxFreeAccounts: options.maxFreeAccounts,
      publicUrl: options.publicUrl,
      helpUrl: options.helpUrl,
    },
  };
}
