import type { Runner } from "../database/transactions/createRunner.ts";
import { captureCalls, checkCapture } from "./capture.ts";
import { closeSession } from "./closeSession.ts";
import { countOpenSessions } from "./countOpenSessions.ts";
import { findHold } from "./findHold.ts";
import { findSession } from "./findSession.ts";
import { flushPayer, hasWaiting } from "./flushPayer.ts";
import { forgetSessions } from "./forgetSessions.ts";
import { checkHold, holdCalls } from "./hold.ts";
import { listSessions } from "./listSessions.ts";
import { openSession } from "./openSession.ts";
import { sweepSessions } from "./sweepSessions.ts";
import { voidHold } from "./voidHold.ts";

export type Sessions = ReturnType<typeof createSessions>;

// Budgets for calls that run one by one: a call's price is held before it runs, and captured or voided after it.
export function createSessions({ shared, sharedInBulk, alone, read }: Runner) {
  return {
    openSession: shared(openSession, "opened"),
    hold: sharedInBulk(checkHold, holdCalls, "held", ({ call: { callId, sessionId } }) => ({
      lock: "new holds",
      name: callId,
      calls: [callId],
      sessions: [sessionId],
    })),
    // By name, so that no other verb comes between them.
    capture: sharedInBulk(checkCapture, captureCalls, "captured", ({ capture: { callId } }) => ({
      lock: "sessions",
      name: callId,
      calls: [callId],
    })),
    void: shared(voidHold, "voided"),
    closeSession: shared(closeSession, "closed"),
    sweepSessions: alone(sweepSessions),
    forgetSessions: alone(forgetSessions),
    flushPayer: alone(flushPayer),
    hasWaiting: read(hasWaiting),
    findSession: read(findSession),
    findHold: read(findHold),
    listSessions: read(listSessions),
    countOpenSessions: read(countOpenSessions),
  };
}
