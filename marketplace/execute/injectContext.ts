import type { Address } from "viem";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import type { ContextKind, Method } from "../registry/listing.ts";
import { ExecutionFailed } from "./answer.ts";

// Public data of wallets, by kind. What is not there cannot be had here.
export type ContextProviders = Partial<Record<ContextKind, (wallets: readonly Address[]) => Promise<object>>>;

type Arguments = Readonly<Record<string, unknown>>;

const DESCRIPTIVE: Readonly<Record<ContextKind, string>> = {
  hyperliquid: "hyperliquidPortfolio",
  polymarket: "polymarketPortfolio",
  wallet: "walletPortfolio",
};
const SHORT: Readonly<Record<ContextKind, readonly string[]>> = {
  hyperliquid: ["portfolio"],
  polymarket: ["portfolio"],
  wallet: ["wallet", "walletAddresses", "portfolio"],
};

// Puts what a method needs to know of its buyer into its arguments, under the name that its schema has for it. What the buyer
// sent under that name is replaced: it is the platform's word that the tool relies on.
export async function injectContext(
  method: Method,
  args: Arguments,
  wallets: () => Promise<readonly Address[]>,
  providers: ContextProviders,
): Promise<Arguments> {
  return (await prepareContext(method, wallets, providers))(args);
}

// Refuses what cannot be known whoever asks, and asks nobody yet: only what is returned reads the data, which takes a while and is
// somebody else's time.
export async function prepareContext(
  { name, inputSchema, _meta: { contextRequirements = [] } }: Method,
  wallets: () => Promise<readonly Address[]>,
  providers: ContextProviders,
  helpUrl: string | null = null,
): Promise<(args: Arguments) => Promise<Arguments>> {
  if (contextRequirements.length === 0) return async (args) => args;
  const linked = await wallets();
  if (linked.length === 0) {
    throw new ApiError(
      "wallet_link_required",
      `the method ${name} needs to know a wallet of yours; link one to your account first`,
      { helpUrl },
    );
  }
  const sources = contextRequirements.map((kind) => {
    const provide = providers[kind];
    if (provide === undefined) {
      throw new ApiError(
        "method_not_execute_eligible",
        `the method ${name} needs data of ${kind}, which is not available here`,
      );
    }
    return { kind, provide };
  });
  const declared = inputSchema.properties;
  return async (args) => {
    const injected = sources.map(async ({ kind, provide }) => {
      const argument = argumentFor(kind, contextRequirements.length === 1, declared);
      // The oldest form: nothing but the addresses.
      if (argument === "walletAddresses") return [argument, [...linked]] as const;
      try {
        return [argument, await provide(linked)] as const;
      } catch (error) {
        // Nothing was sent, and the source may be back for the next request. What it says may hold its address and a key.
        const failed = new ExecutionFailed(`the data of ${kind} cannot be read at present; try again later`, {
          session: null,
          isKept: false,
        });
        failed.cause = error;
        throw failed;
      }
    });
    return { ...args, ...Object.fromEntries(await Promise.all(injected)) };
  };
}

function argumentFor(kind: ContextKind, alone: boolean, declared: unknown): string {
  // Of several that could mean the same argument none may have it.
  const names = [DESCRIPTIVE[kind], ...SHORT[kind].filter((name) => alone || name !== "portfolio")];
  const known = names.find(
    (name) => typeof declared === "object" && declared !== null && Object.hasOwn(declared, name),
  );
  return known ?? (alone ? (SHORT[kind][0] ?? DESCRIPTIVE[kind]) : DESCRIPTIVE[kind]);
}
