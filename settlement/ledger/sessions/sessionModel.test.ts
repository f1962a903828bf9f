import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Ledger } from "../ledger.ts";
import { ledgers } from "../testing/backends.ts";
import { ALICE, accountOf, HASHES, POLICY, RICH, toolOf, turnOf, usdc } from "../testing/fixtures.ts";

// Sessions and holds, as simple as they can be said: what a call is answered, and what is left of the budget.
type Model = {
  sessions: Map<number, ModelSession>;
  holds: Map<number, { session: number; amount: number; heldAt: number; state: "held" | "captured" | "voided" }>;
  turns: Map<number, number>;
};

type ModelSession = {
  budget: number;
  spent: number;
  held: number;
  status: "open" | "closed" | "expired";
  closing: boolean;
  endsAt: number;
};

type Event =
  | { kind: "open"; session: number; budget: number }
  | { kind: "hold"; call: number; session: number; amount: number }
  | { kind: "capture" | "void"; call: number }
  | { kind: "close"; session: number }
  | { kind: "turn"; turn: number; amount: number }
  | { kind: "sweep" };

const LIFETIME_MS = 12_000;
const HOLD_TTL_MS = 8_000;
const STEP_MS = 1_000;

const session = fc.integer({ min: 1, max: 3 });
const call = fc.integer({ min: 1, max: 8 });
const amount = fc.integer({ min: 0, max: 60 });
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant("open" as const), session, budget: fc.constantFrom(50, 100) }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("hold" as const), call, session, amount }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("capture" as const, "void" as const), call }) },
  fc.record({ kind: fc.constant("close" as const), session }),
  fc.record({
    kind: fc.constant("turn" as const),
    turn: fc.integer({ min: 1, max: 3 }),
    amount: fc.constantFrom(1, 2),
  }),
  fc.record({ kind: fc.constant("sweep" as const) }),
);

function expected(model: Model, event: Event, nowMs: number): string | null {
  switch (event.kind) {
    case "open": {
      const known = model.sessions.get(event.session);
      if (known !== undefined) return known.budget === event.budget ? "duplicate" : "conflict";
      const fresh: ModelSession = {
        budget: event.budget,
        spent: 0,
        held: 0,
        status: "open",
        endsAt: nowMs + LIFETIME_MS,
        closing: false,
      };
      model.sessions.set(event.session, fresh);
      return "opened";
    }
    case "hold": {
      const known = model.holds.get(event.call);
      if (known !== undefined) {
        return known.session === event.session && known.amount === event.amount ? "duplicate" : "conflict";
      }
      const own = model.sessions.get(event.session);
      if (own === undefined) return "session_not_found";
      if (own.status === "closed") return "session_closed";
      if (own.status === "expired" || own.endsAt <= nowMs) return "session_expired";
      if (own.spent + own.held + event.amount > own.budget) return "session_budget_exceeded";
      own.held += event.amount;
      model.holds.set(event.call, { session: event.session, amount: event.amount, heldAt: nowMs, state: "held" });
      return "held";
    }
    case "capture":
    case "void": {
      const known = model.holds.get(event.call);
      if (known === undefined) return "hold_not_found";
      const wanted = event.kind === "capture" ? "captured" : "voided";
      if (known.state !== "held") return known.state === wanted ? "duplicate" : known.state;
      end(model, known, wanted);
      return wanted;
    }
    case "close": {
      const own = model.sessions.get(event.session);
      if (own === undefined) return "session_not_found";
      if (own.closing) return "duplicate";
      own.closing = true;
      // What has expired stays so, whether or not a sweep has noticed.
      if (own.status === "open") own.status = own.endsAt <= nowMs ? "expired" : "closed";
      return "closed";
    }
    case "turn": {
      const known = model.turns.get(event.turn);
      if (known !== undefined) return known === event.amount ? "duplicate" : "conflict";
      model.turns.set(event.turn, event.amount);
      return "recorded";
    }
    case "sweep":
      for (const own of model.sessions.values())
        if (own.status === "open" && own.endsAt <= nowMs) own.status = "expired";
      for (const hold of model.holds.values()) {
        if (hold.state === "held" && hold.heldAt <= nowMs - HOLD_TTL_MS) end(model, hold, "voided");
      }
      return null;
  }
}

function end(
  model: Model,
  hold: { session: number; amount: number; state: string },
  state: "captured" | "voided",
): void {
  hold.state = state;
  const own = model.sessions.get(hold.session);
  if (own === undefined) return;
  own.held -= hold.amount;
  if (state === "captured") own.spent += hold.amount;
}

async function answered(ledger: Ledger, event: Event, nowMs: number): Promise<string | null> {
  switch (event.kind) {
    case "open": {
      const wanted = {
        id: `${event.session}`,
        payer: ALICE,
        maxSpend: usdc(event.budget),
        expiresAtMs: nowMs + LIFETIME_MS,
      };
      return (await ledger.openSession(wanted, nowMs)).kind;
    }
    case "hold": {
      const wanted = { callId: `${event.call}`, sessionId: `${event.session}`, toolId: toolOf(1), method: "m" };
      return (await ledger.hold({ ...wanted, amount: usdc(event.amount) }, RICH, nowMs)).kind;
    }
    case "capture":
      return (await ledger.capture({ callId: `${event.call}`, hashes: HASHES }, POLICY, nowMs)).kind;
    case "void":
      return (await ledger.void(`${event.call}`)).kind;
    case "close":
      return (await ledger.closeSession(`${event.session}`, nowMs)).kind;
    case "turn": {
      const turn = turnOf(`${event.turn}`, { payer: accountOf(2), modelCost: usdc(event.amount), tools: [] });
      return (await ledger.recordTurn(turn, nowMs)).kind;
    }
    case "sweep":
      await ledger.sweepSessions(POLICY, HOLD_TTL_MS, nowMs, 100);
      return null;
  }
}

async function holds(ledger: Ledger, history: readonly Event[]): Promise<void> {
  const model: Model = { sessions: new Map(), holds: new Map(), turns: new Map() };
  for (const [n, event] of history.entries()) {
    const nowMs = (n + 1) * STEP_MS;
    const answer = expected(model, event, nowMs);
    const given = await answered(ledger, event, nowMs);
    if (answer !== null) expect(given, `event ${n}: ${JSON.stringify(event)}`).toBe(answer);
    for (const [id, { spent, held, status }] of model.sessions) {
      const seen = await ledger.findSession(`${id}`);
      expect(seen, `session ${id} after event ${n}`).toMatchObject({ spent: usdc(spent), held: usdc(held), status });
    }
  }
  const delivered = [...model.turns.values()].reduce((sum, turn) => sum + turn, 0);
  const spent = [...model.sessions.values()].reduce((sum, own) => sum + own.spent, 0);
  expect((await ledger.readTotals()).accrued).toBe(usdc(delivered + spent));
}

describe.each(ledgers)("sessions and holds on $name", ({ create }) => {
  it("answer like the model and keep its sums, whatever happens in whatever order", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 20, maxLength: 60, size: "max" }), async (history) => {
        const store = await create();
        try {
          await holds(await store.open(), history);
        } finally {
          await store.remove();
        }
      }),
      { seed: 20_260_101, numRuns: 25, interruptAfterTimeLimit: 40_000 },
    );
  });
});
