import { LRUCache } from "lru-cache";
import type { Address } from "viem";
import type { ContextProviders } from "../execute/injectContext.ts";
import { CONTEXT_KINDS, type ContextKind } from "../registry/listing.ts";
import type { ContextSource } from "./source.ts";

// One agent calls many methods within seconds, and its portfolio is the same for all of them.
const KEEP_MS = 5_000;
const MAX_KEPT = 1_000;
const TIMEOUT_MS = 10_000;

// What Execute injects, from where it comes from: of the wallet that the buyer uses, which is the first.
// `failed` hears why there was nothing to be had: the buyer is not told.
export function createContextProviders(
  sources: Readonly<Partial<Record<ContextKind, ContextSource>>>,
  failed: (kind: ContextKind, error: unknown) => void = () => undefined,
): ContextProviders {
  const kept = new LRUCache<string, Promise<object>>({ max: MAX_KEPT, ttl: KEEP_MS });

  const provide = (kind: ContextKind, source: ContextSource) => (wallets: readonly Address[]) => {
    const [wallet] = wallets;
    if (wallet === undefined) throw new TypeError("there is no wallet to ask about");
    const key = `${kind} ${wallet.toLowerCase()}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    // Under nobody's signal but its own: others may wait for the same by now.
    const asking = source(wallet, AbortSignal.timeout(TIMEOUT_MS));
    kept.set(key, asking);
    // What has failed is tried again for the next.
    asking.catch((error) => {
      kept.delete(key);
      failed(kind, error);
    });
    return asking;
  };

  const providers: ContextProviders = {};
  for (const kind of CONTEXT_KINDS) {
    const source = sources[kind];
    if (source !== undefined) providers[kind] = provide(kind, source);
  }
  return providers;
}
