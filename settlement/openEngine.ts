import type { Address } from "viem";
import { createChain } from "./chain/createChain.ts";
import { createReadSpendable } from "./chain/readSpendable.ts";
import type { EndpointObservation } from "./chain/rpc/endpoints.ts";
import type { EndpointStanding } from "./chain/rpc/survey.ts";
import { createSigner, openKeystoreSigner, type Signer, withTimeout } from "./chain/signer/signer.ts";
import { type Clock, type Random, systemClock } from "./clock.ts";
import type { KeyConfig } from "./config.ts";
import type { EngineEvent, Failpoint, Policy } from "./engine/context.ts";
import { createEngine } from "./engine/createEngine.ts";
import { DEFAULT_POLICY } from "./engine/policy.ts";
import { openLedger } from "./ledger/openLedger.ts";

export type OpenEngineOptions = {
  chainId: number;
  rpcUrls: readonly string[];
  router: Address;
  // The block of the router's deployment, before which there is nothing to look for.
  fromBlock?: bigint;
  // A file, or a postgres:// URL.
  ledger: string;
  // The folder of its archive, if it has one.
  archive?: string | null;
  keys: readonly KeyConfig[];
  // The name of this process, under which it holds leases.
  holder: string;
  policy?: Partial<Policy>;
  clock?: Clock;
  random?: Random;
  report?: (event: EngineEvent) => void;
  reached?: (failpoint: Failpoint) => void;
  // How a key becomes a signer.
  openSigner?: (key: KeyConfig) => Promise<Signer> | Signer;
  observe?: (observation: EndpointObservation) => void;
  compared?: (standings: readonly EndpointStanding[]) => void;
};

// Puts the parts together: a ledger, a chain and keys become an engine.
export async function openEngine(options: OpenEngineOptions) {
  const { clock = systemClock, random = Math.random, report = () => {}, reached = () => {} } = options;
  const policy = { ...DEFAULT_POLICY, ...options.policy };
  const opened = await Promise.all(options.keys.map(options.openSigner ?? openSigner));
  const signers = opened.map((signer) => withTimeout(signer, policy.signTimeoutMs));
  const chain = await createChain({
    chainId: options.chainId,
    router: options.router,
    // Numbered, because an address may hold an API key.
    addresses: options.rpcUrls.map((url, i) => ({ name: `endpoint ${i + 1}`, url })),
    clock,
    random,
    ...(options.observe && { observe: options.observe }),
    compared(standings) {
      options.compared?.(standings);
      for (const { endpoint, standing } of standings) {
        if (standing.kind === "stale" || standing.kind === "contradicts") {
          report({ kind: `endpoint_${standing.kind}`, endpoint, reason: standing.reason });
        }
      }
    },
  });
  const ledger = await openLedger(options.ledger, { archive: options.archive ?? null });
  const { fromBlock = 0n, holder } = options;
  const context = { ledger, chain, signers, clock, random, fromBlock, holder, policy, report, reached };
  const engine = createEngine(context, createReadSpendable({ spendable: chain.spendable, clock }));
  return { engine, ledger, chain, close: () => ledger.close() };
}

export function openSigner(key: KeyConfig): Promise<Signer> | Signer {
  return key.kind === "keystore" ? openKeystoreSigner(key) : createSigner(key.privateKey);
}
