import { pino } from "pino";
import type { Address } from "viem";
import type { Chain, Listing } from "../../settlement/chain/chain.ts";
import type { ReadSpendable } from "../../settlement/chain/readSpendable.ts";
import { isSignedByKey } from "../../settlement/chain/router/isSigned.ts";
import { spendableOf } from "../../settlement/chain/testing/spendableOf.ts";
import { systemClock } from "../../settlement/clock.ts";
import { createMetrics } from "../../settlement/daemon/observability/metrics.ts";
import { createDaemon } from "../../settlement/daemon/process/createDaemon.ts";
import { microUsdc, parseUsd } from "../../settlement/domain/money.ts";
import { hashTools } from "../../settlement/domain/payer/budget.ts";
import { type ToolId, uuidFromToolId } from "../../settlement/domain/toolId.ts";
import { createEngine } from "../../settlement/engine/createEngine.ts";
import { DEFAULT_POLICY } from "../../settlement/engine/policy.ts";
import type { Store } from "../../settlement/ledger/testing/backends.ts";

export const SERVICE_TOKEN = "service-token-of-the-tests-0123456789";
const RICH = 1_000_000_000n;
const NOTHING = microUsdc(0n);

// Where what buyers sign is good.
export const DOMAIN = { chainId: 8453, router: `0x${"c0de".padStart(40, "0")}` } as const;

// A settlement daemon with its real engine and ledger, on a chain of which only what payers can spend is known. It can be
// away: then it cuts off whoever asks.
export async function openDaemon(store: Store) {
  const ledger = await store.open();
  const allowances = new Map<string, bigint>();
  // `gate`: what whoever asks is kept waiting for.
  const state = { away: false, requests: 0, gate: Promise.resolve() };
  const consenting = new Set<string>();
  const deposits = new Map<string, bigint>();
  const listings = new Map<string, Listing>();
  // Nothing was ever brought there.
  const onChain = (id: bigint) =>
    [id, { maxSpend: NOTHING, spent: NOTHING, validUntil: 0n, endsAt: 0n, toolsHash: hashTools([]) }] as const;
  const spendable = async (payer: Address, ids: readonly bigint[]) =>
    spendableOf(payer, allowances.get(payer.toLowerCase()) ?? RICH, {
      balance: microUsdc(RICH),
      dailyCapLeft: RICH,
      consentRequired: consenting.has(payer.toLowerCase()),
      prepaid: microUsdc(deposits.get(payer.toLowerCase()) ?? 0n),
      budgets: new Map(ids.map(onChain)),
    });
  const readSpendable: ReadSpendable = (payer, _, id = null) => spendable(payer, id === null ? [] : [id]);
  const chain: Pick<Chain, "chainId" | "router" | "isSigned" | "spendable"> = {
    ...DOMAIN,
    isSigned: ({ signer, digest, signature }) => isSignedByKey(signer, digest, signature),
    spendable: (payers, budgets = []) =>
      Promise.all(
        payers.map((payer) =>
          spendable(
            payer,
            budgets.map(({ id }) => id),
          ),
        ),
      ),
  };
  const engine = createEngine(
    {
      ledger,
      chain: {
        ...chain,
        availability: async () => ({ kind: "available" }),
        listings: async (toolIds: readonly ToolId[]) => toolIds.map((id) => listings.get(uuidFromToolId(id)) ?? null),
        refunds: async (payers: readonly unknown[]) => payers.map(() => ({ amount: NOTHING, readyAt: 0n })),
      } as unknown as Chain,
      signers: [],
      clock: systemClock,
      random: Math.random,
      fromBlock: 0n,
      holder: "tests",
      // Nothing is ever settled here, so that all credit is used once.
      policy: { ...DEFAULT_POLICY, credit: { ...DEFAULT_POLICY.credit, base: parseUsd("1000000") } },
      report: () => {},
      reached: () => {},
    },
    readSpendable,
  );
  const { app, close } = await createDaemon({
    services: {
      engine,
      ledger,
      clock: systemClock,
      auditor: {} as never,
      cachedReads: {} as never,
      readiness: (async () => ({ ready: true })) as never,
      helpUrl: "https://help.example/cap",
      sessionTtlMs: 60_000,
    },
    serviceToken: SERVICE_TOKEN,
    log: pino({ level: "silent" }),
    metrics: createMetrics(systemClock),
  });
  app.addHook("onRequest", async (_request, reply) => {
    state.requests += 1;
    await state.gate;
    if (!state.away) return;
    reply.hijack();
    reply.raw.destroy();
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return {
    url,
    state,
    ledger,
    // What the chain says of a tool from now on; nothing is known of others.
    list: (toolId: string, price: bigint) =>
      void listings.set(toolId, { price: microUsdc(price), stake: microUsdc(RICH), maxPrice: microUsdc(RICH) }),
    deposit: (payer: string, amount: bigint) => void deposits.set(payer.toLowerCase(), amount),
    demandConsent: (payer: string) => void consenting.add(payer.toLowerCase()),
    waiveConsent: (payer: string) => void consenting.delete(payer.toLowerCase()),
    allow: (payer: string, amount: bigint) => void allowances.set(payer.toLowerCase(), amount),
    // What a payer owes and what is reserved of what it has, in micro-USDC.
    async exposure(payer: string) {
      const [exposure] = await ledger.readExposures([payer.toLowerCase() as Address]);
      return { pending: exposure?.pending ?? 0n, held: exposure?.held ?? 0n };
    },
    close,
  };
}
