import { z } from "zod";
import { sessionRow, sessionRowSchema, sessionSchema, sessionView } from "../../../views/session.ts";
import * as shape from "../../../views/shapes.ts";
import { broughtIn } from "../../http/brought.ts";
import { ApiError } from "../../http/errors.ts";
import * as field from "../../http/fields.ts";
import { route } from "../../http/route.ts";
import { startSession } from "../startSession.ts";

const params = z.object({ sessionId: field.name });
const answer = z.object({ payer: shape.address, session: sessionSchema });
const noSession = (sessionId: string) => new ApiError("session_not_found", `there is no session ${sessionId}`);
const MAX_TTL_SECONDS = 604_800;
const TTL_MESSAGE = `must be a whole number from 1 to ${MAX_TTL_SECONDS}`;

export const platformSessionRoutes = [
  route({
    method: "POST",
    path: "/v1/sessions",
    access: "platform",
    summary: "Start a session for a payer, on a budget that the payer has signed if it comes with one",
    body: z.strictObject({
      payer: field.address,
      maxSpendUsd: field.positiveUsd,
      sessionId: field.name.optional(),
      ttlSeconds: z
        .number(TTL_MESSAGE)
        .int(TTL_MESSAGE)
        .min(1, TTL_MESSAGE)
        .max(MAX_TTL_SECONDS, TTL_MESSAGE)
        .optional(),
      ...field.signed,
    }),
    fieldCodes: { maxSpendUsd: "invalid_max_spend" },
    example: { payer: field.example.address, maxSpendUsd: "1.00" },
    answer,
    errors: [
      "conflict",
      "insufficient_allowance",
      "payment_failed",
      "consent_required",
      "budget_forged",
      "budget_expired",
      "no_wallet",
      "too_many_sessions",
    ],
    async handle({ body, newId, services, log }) {
      const { payer, maxSpendUsd: maxSpend, sessionId: id = newId(), ttlSeconds } = body;
      const ttlMs = ttlSeconds === undefined ? services.sessionTtlMs : ttlSeconds * 1_000;
      const session = await startSession(services, { id, payer, maxSpend, ttlMs, brought: broughtIn(body) });
      log.info({ event: "session_started", session: id, payer }, "session started");
      return { body: { payer, session } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/sessions",
    access: "platform",
    summary: "Sessions of all payers or of one, newest first",
    query: z.strictObject({ payer: field.address.optional(), limit: field.limit, offset: field.offset }),
    answer: z.object({ sessions: z.array(sessionRowSchema) }),
    async handle({ query: { payer, limit, offset }, services: { ledger, clock } }) {
      const sessions = await ledger.listSessions(payer ?? null, limit, offset);
      const nowMs = clock.nowMs();
      return { body: { sessions: sessions.map((session) => sessionRow(session, nowMs)) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/sessions/:sessionId",
    access: "platform",
    summary: "Show a session",
    params,
    answer,
    errors: ["session_not_found"],
    async handle({ params: { sessionId }, services: { ledger, clock } }) {
      const session = await ledger.findSession(sessionId);
      if (session === null) throw noSession(sessionId);
      return { body: { payer: session.payer, session: sessionView(session, clock.nowMs()) } };
    },
  }),
  route({
    method: "POST",
    path: "/v1/sessions/:sessionId/close",
    access: "platform",
    summary: "Close a session; what it spent is handed to settlement at once",
    params,
    body: field.nothing,
    answer,
    errors: ["session_not_found"],
    async handle({ params: { sessionId }, services: { engine, clock }, log }) {
      const closed = await engine.closeSession(sessionId);
      if (closed.kind === "session_not_found") throw noSession(sessionId);
      log.info({ event: "session_closed", session: sessionId }, "session closed");
      return { body: { payer: closed.session.payer, session: sessionView(closed.session, clock.nowMs()) } };
    },
  }),
];
