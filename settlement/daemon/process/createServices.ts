import type { Address } from "viem";
import type { Chain } from "../../chain/chain.ts";
import { inspectChain } from "../../chain/inspectChain.ts";
import type { Clock } from "../../clock.ts";
import type { Engine } from "../../engine/createEngine.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Services } from "../http/route.ts";
import { createAuditor } from "../observability/auditor.ts";
import type { Readiness } from "../observability/readiness.ts";
import { createCachedReads } from "../observability/reads/createCachedReads.ts";

export type ServicesOptions = {
  engine: Engine;
  ledger: Ledger;
  chain: Chain;
  clock: Clock;
  readiness: Readiness;
  rpcUrls: readonly string[];
  router: Address;
  fromBlock: bigint;
  helpUrl: string | null;
  sessionTtlMs: number;
};

// What handlers work with, around an opened engine.
export function createServices(options: ServicesOptions): Services {
  const { engine, ledger, chain, clock, readiness, fromBlock, helpUrl, sessionTtlMs } = options;
  const cachedReads = createCachedReads({
    engine,
    ledger,
    chain,
    inspection: inspectChain({ ...options, chainId: chain.chainId }),
    clock,
    readiness,
  });
  const auditor = createAuditor({ engine, ledger, clock, fromBlock });
  return { engine, ledger, clock, cachedReads, readiness, auditor, helpUrl, sessionTtlMs };
}
