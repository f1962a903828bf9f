import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { microUsdc } from "../../domain/money.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { ledgers, type Store } from "../../ledger/testing/backends.ts";
import { ALICE, BOB, toolOf, usdc } from "../../ledger/testing/fixtures.ts";
import { DEFAULT_POLICY } from "../policy.ts";
import type { Admission } from "./admission.ts";
import { hold } from "./calls/hold.ts";
import { startSession } from "./calls/startSession.ts";
import type { Preflight, PreflightFunds } from "./preflight/preflight.ts";
import type { Prices } from "./prices.ts";

const zero = microUsdc(0n);
const funds: PreflightFunds = {
  available: zero,
  balance: zero,
  allowance: 0n,
  dailyCapLeft: 0n,
  prepaid: zero,
  consentRequired: false,
  pending: zero,
  held: zero,
  owed: zero,
  debt: zero,
  creditLimit: zero,
  creditLeft: zero,
};
const spendable = { amount: 10n ** 9n, prepaid: 0n, atBlock: 0n };
const rich = async (): Promise<Preflight> => ({ code: "ok", funds, spendable });
const poor = async (): Promise<Preflight> => ({ code: "insufficient_allowance", funds, reason: "the cap is used up" });
const open: Admission = { write: (_, write) => write() };
const anyPrice: Prices = { refuse: async () => null };
const session = { id: "s", payer: ALICE, maxSpend: usdc(100), ttlMs: 60_000, budgetId: null };
const call = { callId: "c", sessionId: "s", toolId: toolOf(1), method: "quote", amount: usdc(10) };

describe.each(ledgers)("what is asked for again, on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  const context = () => ({ ledger, clock: { nowMs: () => 1 }, policy: DEFAULT_POLICY });

  beforeAll(async () => {
    store = await create();
    ledger = await store.open();
  });
  afterAll(() => store.remove());

  it("is refused as long as it was never granted and its payer cannot pay", async () => {
    expect(await startSession(context(), poor, session)).toMatchObject({ kind: "refused" });
    expect(await ledger.findSession("s")).toBeNull();
    expect(await startSession(context(), rich, session)).toMatchObject({ kind: "opened" });
    expect(await hold(context(), poor, open, anyPrice, call)).toMatchObject({ kind: "refused", session: { id: "s" } });
    expect(await hold(context(), rich, open, anyPrice, call)).toMatchObject({ kind: "held" });
  });

  it("is the session or the call that was granted before, whatever its payer can spend by now", async () => {
    expect(await startSession(context(), poor, session)).toMatchObject({ kind: "duplicate", session: { id: "s" } });
    expect(await hold(context(), poor, open, anyPrice, call)).toMatchObject({
      kind: "duplicate",
      hold: { callId: "c" },
    });
  });

  it("is a conflict if it differs", async () => {
    expect(await startSession(context(), rich, { ...session, payer: BOB })).toEqual({ kind: "conflict" });
    expect(await hold(context(), rich, open, anyPrice, { ...call, amount: usdc(11) })).toEqual({ kind: "conflict" });
  });

  it("is the session that was granted before, though its payer may open no more", async () => {
    const full = { ...context(), policy: { ...DEFAULT_POLICY, maxOpenSessions: 1 } };
    expect(await startSession(full, rich, session)).toMatchObject({ kind: "duplicate" });
    const another = { ...session, id: "another" };
    expect(await startSession(full, rich, another)).toEqual({ kind: "too_many_sessions", open: 1 });
    await ledger.closeSession("s", 2);
    expect(await startSession(full, rich, another)).toMatchObject({ kind: "opened" });
  });

  it("needs a wallet and a session", async () => {
    expect(await startSession(context(), rich, { ...session, payer: null })).toEqual({
      kind: "refused",
      preflight: { code: "no_wallet" },
    });
    expect(await hold(context(), rich, open, anyPrice, { ...call, callId: "d", sessionId: "none" })).toEqual({
      kind: "session_not_found",
    });
  });
});
