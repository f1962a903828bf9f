import { z } from "zod";
import { PAYER_REFUSALS, SESSION_REFUSALS } from "../../../settlement/daemon/http/errors.ts";
import * as field from "../../../settlement/daemon/http/fields.ts";
import { formatUsd } from "../../../settlement/domain/money.ts";
import { type SessionView, sessionSchema } from "../../../settlement/views/session.ts";
import { roomFor } from "../../delivery/boundDeliveries.ts";
import { successSchema } from "../../execute/answer.ts";
import { sessionIdOf } from "../../execute/createSessions.ts";
import { MAX_DEPTH, MAX_NUMBER, shapeOf } from "../../mcp/transport/readJson.ts";
import { signedFields, signedIn } from "../../settlement/signedBudget.ts";
import { drawing } from "../drawing.ts";
import { toolId } from "../fields.ts";
import { idempotencyKeyOf } from "../idempotencyKeyOf.ts";
import { accountOf, route } from "../route.ts";
import { untilGone } from "../untilGone.ts";

const SESSIONS = "/api/v1/tools/execute/sessions";
const mode = z.literal("execute", 'must be "execute"').optional();
const params = z.object({ id: z.string() });
const sessionAnswer = z.object({ success: z.literal(true), mode: z.literal("execute"), session: sessionSchema });
const JSON_TYPE = "application/json; charset=utf-8";

const answerOf = (session: SessionView, headers: Record<string, string> = {}) => ({
  body: { success: true as const, mode: "execute" as const, session },
  headers,
});

const REPLAYED = { "idempotency-replayed": "true" };

export const executeRoutes = [
  route({
    method: "POST",
    path: "/api/v1/tools/execute",
    access: "account",
    paced: "calls",
    summary: "Call a method of a tool and pay for it; under one Idempotency-Key it is called once",
    body: z.object({
      mode,
      toolId,
      toolName: field.method,
      args: z
        .record(z.string(), z.unknown(), "must be an object")
        .refine((args) => shapeOf(args) !== "deeper", `must not be nested deeper than ${MAX_DEPTH} levels`)
        .refine((args) => shapeOf(args) !== "endless", `must have no number above ${MAX_NUMBER}`)
        .optional(),
      sessionId: z.string("must be a text").nullish(),
      maxSpendUsd: field.positiveUsd.nullish(),
      closeSession: z.boolean("must be true or false").nullish(),
      ...signedFields,
    }),
    fieldCodes: { maxSpendUsd: "invalid_max_spend" },
    answer: successSchema,
    errors: [
      "not_found",
      "no_wallet",
      ...PAYER_REFUSALS,
      "execution_failed",
      "invalid_tool_method",
      "method_not_execute_eligible",
      "wallet_link_required",
      "action_requires_signature",
      ...SESSION_REFUSALS,
      "max_spend_mismatch",
      "too_many_sessions",
      "idempotency_conflict",
      "conflict",
    ],
    async handle({ body, caller, request, services }) {
      const account = accountOf(caller);
      const key = idempotencyKeyOf(request.headers["idempotency-key"]);
      const { sessionId = null, maxSpendUsd = null, closeSession = false } = body;
      const asked = {
        toolId: body.toolId,
        method: body.toolName,
        args: body.args ?? {},
        sessionId,
        maxSpendUsd: maxSpendUsd === null ? null : formatUsd(maxSpendUsd),
        closeSession: closeSession ?? false,
      };
      const { status, text, replayed } = await untilGone(request, (gone) =>
        drawing(services, account, signedIn(body), (signed) =>
          services.executeOnce({ ...asked, signed }, { account, key, gone, hasRoom: roomFor(request) }),
        ),
      );
      return { status, text, contentType: JSON_TYPE, headers: replayed ? REPLAYED : {} };
    },
  }),
  route({
    method: "POST",
    path: SESSIONS,
    access: "account",
    summary: "Start a session with a budget",
    body: z.object({ mode, maxSpendUsd: field.positiveUsd, ...signedFields }),
    fieldCodes: { maxSpendUsd: "invalid_max_spend" },
    answer: sessionAnswer,
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
    async handle({ body, caller, newId, request, services, log }) {
      const { sessions } = services;
      const account = accountOf(caller);
      const key = idempotencyKeyOf(request.headers["idempotency-key"]);
      const id = key === null ? newId() : sessionIdOf(account, key);
      const known = key === null ? null : await sessions.find(account, id);
      const maxSpendUsd = formatUsd(body.maxSpendUsd);
      const session = await drawing(services, account, signedIn(body), (signed) =>
        sessions.start(account, { id, maxSpendUsd, signed }),
      );
      log.info({ event: "session_started", session: id, account }, "session started");
      return answerOf(session, known === null ? {} : REPLAYED);
    },
  }),
  route({
    method: "GET",
    path: `${SESSIONS}/:id`,
    access: "account",
    summary: "Show a session",
    params,
    answer: sessionAnswer,
    errors: ["session_not_found"],
    async handle({ params: { id }, caller, services: { sessions } }) {
      return answerOf(await sessions.get(accountOf(caller), id));
    },
  }),
  route({
    method: "POST",
    path: `${SESSIONS}/:id/close`,
    access: "account",
    summary: "Close a session; what it spent is handed to settlement at once",
    params,
    body: z.object({ mode }).optional(),
    example: { mode: "execute" },
    answer: sessionAnswer,
    errors: ["session_not_found"],
    async handle({ params: { id }, caller, services: { sessions }, log }) {
      const account = accountOf(caller);
      const session = await sessions.close(account, id);
      log.info({ event: "session_closed", session: id, account }, "session closed");
      return answerOf(session);
    },
  }),
];
