import { z } from "zod";
import type { Session } from "../../domain/session.ts";
import { ApiError } from "../errors.ts";
import * as field from "../fields.ts";
import { type Caller, type Route, route, type Services } from "../route.ts";
import { startSession } from "../startSession.ts";
import { type SessionView, sessionView } from "../views.ts";

const PATH = "/api/v1/tools/execute/sessions";
const mode = z.literal("execute", 'has to be "execute"');
const params = z.object({ id: z.string() });

const answerOf = (session: SessionView) => ({ body: { success: true, mode: "execute", session } });

// What the public SDKs speak, under a payer's API key.
export const sessionRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: PATH,
    access: "payer",
    summary: "Start a session with a budget",
    body: z.object({ mode, maxSpendUsd: field.positiveUsd }),
    fieldCodes: { maxSpendUsd: "invalid_max_spend" },
    async handle({ body, caller, newId, services, log }) {
      const payer = payerOf(caller);
      const { sessionTtlMs: ttlMs } = services;
      const session = await startSession(services, { id: newId(), payer, maxSpend: body.maxSpendUsd, ttlMs });
      log.info({ event: "session_started", session: session.sessionId, payer }, "session started");
      return answerOf(session);
    },
  }),
  route({
    method: "GET",
    path: `${PATH}/:id`,
    access: "payer",
    summary: "Show a session",
    params,
    async handle({ params: { id }, caller, services }) {
      return answerOf(sessionView(await ownSession(services, caller, id), services.clock.nowMs()));
    },
  }),
  route({
    method: "POST",
    path: `${PATH}/:id/close`,
    access: "payer",
    summary: "Close a session; what it spent is handed to settlement at once",
    params,
    body: z.object({ mode }),
    async handle({ params: { id }, caller, services, log }) {
      const { payer } = await ownSession(services, caller, id);
      const closed = await services.engine.closeSession(id);
      if (closed.kind === "session_not_found") throw notFound();
      log.info({ event: "session_closed", session: id, payer }, "session closed");
      return answerOf(sessionView(closed.session, services.clock.nowMs()));
    },
  }),
];

// Somebody else's session is as good as none: not even that it exists is shown.
async function ownSession({ ledger }: Services, caller: Caller, id: string): Promise<Session> {
  const session = await ledger.session(id);
  if (session === null || session.payer !== payerOf(caller)) throw notFound();
  return session;
}

function payerOf(caller: Caller) {
  if (caller.kind !== "payer") throw new ApiError("no_wallet", "There is no wallet to be charged.");
  return caller.apiKey.payer;
}

const notFound = () => new ApiError("session_not_found", "There is no such session.");
