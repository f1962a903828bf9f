import Fastify from "fastify";
import { expect, it } from "vitest";
import type { Chain } from "../../chain/chain.ts";
import { SettlementError } from "../../domain/errors.ts";
import { microUsdc } from "../../domain/money.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { registerMetrics } from "../routes/metrics.ts";
import { createMetrics } from "./metrics.ts";

it("what is known is shown while the database is away, and that it is away", async () => {
  let isAway = false;
  let nowMs = 0;
  const zero = microUsdc(0n);
  const ledger = {
    readTotals: async () => {
      if (isAway) throw new SettlementError("ledger_unavailable", "no connection", { retryable: true });
      return { accrued: microUsdc(7n), pending: zero, settled: zero, absorbed: zero, refused: zero, voided: zero };
    },
    readGauges: async () => ({
      failures: [],
      accrued: { count: 3, amount: zero, oldestDueAtMs: null },
      openSessions: 0,
      holds: { count: 0, amount: zero, oldestHeldAtMs: null },
      submissions: [],
      debt: zero,
      owed: zero,
      contests: { count: 0, amount: zero },
    }),
    readHalt: async () => null,
  } as unknown as Ledger;
  const metrics = createMetrics({ nowMs: () => nowMs });
  metrics.readFrom({ ledger, chain: { spendable: async () => [] } as unknown as Chain, operators: [] });
  expect(await metrics.print()).toMatch(/^settlement_ledger_up 1$/m);
  isAway = true;
  nowMs += 60_000;
  metrics.observeFailedTick();
  // As whoever collects them asks: a service that is in trouble still says so.
  const app = Fastify();
  registerMetrics(app, metrics);
  const { statusCode, body: text } = await app.inject("/metrics");
  expect(statusCode).toBe(200);
  expect(text).toMatch(/^settlement_ledger_up 0$/m);
  expect(text).toMatch(/^settlement_ticks_failed_total 1$/m);
  expect(text).toMatch(/^settlement_waiting_charges 3$/m);
});
