import { z } from "zod";
import type { Hold, Session } from "../../../domain/charges/session.ts";
import { callSchema, callView } from "../../../views/call.ts";
import { sessionSchema, sessionView } from "../../../views/session.ts";
import { broughtIn } from "../../http/brought.ts";
import { ApiError, PAYER_REFUSALS, SESSION_REFUSALS } from "../../http/errors.ts";
import * as field from "../../http/fields.ts";
import { route } from "../../http/route.ts";
import { refusalOf } from "../startSession.ts";

const params = z.object({ callId: field.name });

const answer = z.object({ call: callSchema, session: sessionSchema });

const answerOf = (hold: Hold, session: Session, nowMs: number) => ({
  body: { call: callView(hold), session: sessionView(session, nowMs) },
});

const noCall = (callId: string) => new ApiError("not_found", `there is no call ${callId}`);

export const callRoutes = [
  route({
    method: "POST",
    path: "/v1/calls",
    access: "platform",
    summary: "Hold a call's price before it runs; the call's id makes it happen once",
    body: z.strictObject({
      callId: field.name,
      sessionId: field.name,
      toolId: field.toolId,
      method: field.method,
      priceUsd: field.usd,
      ...field.signed,
    }),
    answer,
    example: {
      callId: "call-1",
      sessionId: "session-1",
      toolId: field.example.toolId,
      method: "search",
      priceUsd: "0.10",
    },
    errors: [
      "conflict",
      "overloaded",
      ...SESSION_REFUSALS,
      ...PAYER_REFUSALS,
      "no_wallet",
      "method_not_execute_eligible",
    ],
    async handle({ body, services, log }) {
      const { engine, clock, helpUrl } = services;
      const { callId, sessionId, toolId, method, priceUsd: amount } = body;
      const held = await engine.hold({ callId, sessionId, toolId, method, amount }, broughtIn(body));
      switch (held.kind) {
        case "held":
        case "duplicate":
          if (held.kind === "held") log.info({ event: "held", call: callId, session: sessionId }, "held");
          return answerOf(held.hold, held.session, clock.nowMs());
        case "conflict":
          throw new ApiError("conflict", `there is another call ${callId}`);
        case "session_not_found":
          throw new ApiError("session_not_found", `there is no session ${sessionId}`);
        case "price_exceeded":
          throw new ApiError("method_not_execute_eligible", held.reason);
        case "budget_refused": {
          const { code, reason } = held.refusal;
          throw new ApiError(code, reason, { helpUrl, session: sessionView(held.session, clock.nowMs()) });
        }
        case "refused":
          throw refusalOf(held.preflight, helpUrl, sessionView(held.session, clock.nowMs()));
        default:
          throw new ApiError(held.kind, REASONS[held.kind], { session: sessionView(held.session, clock.nowMs()) });
      }
    },
  }),
  route({
    method: "GET",
    path: "/v1/calls/:callId",
    access: "platform",
    summary: "Show a call",
    params,
    answer: z.object({ call: callSchema }),
    errors: ["not_found"],
    async handle({ params: { callId }, services: { ledger } }) {
      const call = await ledger.findHold(callId);
      if (call === null) throw noCall(callId);
      return { body: { call: callView(call) } };
    },
  }),
  route({
    method: "POST",
    path: "/v1/calls/:callId/capture",
    access: "platform",
    summary: "The call succeeded: its price is owed",
    params,
    body: z
      .strictObject({ requestHash: field.hashOrNone, responseHash: field.hashOrNone, schemaHash: field.hashOrNone })
      .prefault({}),
    answer,
    errors: ["not_found", "conflict"],
    async handle({ params: { callId }, body, services: { engine, clock }, log }) {
      const hashes = { request: body.requestHash, response: body.responseHash, schema: body.schemaHash };
      const captured = await engine.capture(callId, hashes);
      if (captured.kind === "hold_not_found") throw noCall(callId);
      if (captured.kind === "voided") {
        const session = sessionView(captured.session, clock.nowMs());
        throw new ApiError("conflict", "the call was voided before", { session });
      }
      if (captured.kind === "captured") {
        const { sessionId } = captured.hold;
        log.info({ event: "accrued", call: callId, session: sessionId, charges: [captured.chargeId] }, "accrued");
      }
      return answerOf(captured.hold, captured.session, clock.nowMs());
    },
  }),
  route({
    method: "POST",
    path: "/v1/calls/:callId/void",
    access: "platform",
    summary: "The call failed: it costs nothing",
    params,
    body: field.nothing,
    answer,
    errors: ["not_found", "conflict"],
    async handle({ params: { callId }, services: { engine, clock }, log }) {
      const voided = await engine.void(callId);
      if (voided.kind === "hold_not_found") throw noCall(callId);
      if (voided.kind === "captured") {
        const session = sessionView(voided.session, clock.nowMs());
        throw new ApiError("conflict", "the call was captured before", { session });
      }
      if (voided.kind === "voided") log.info({ event: "voided", call: callId }, "voided");
      return answerOf(voided.hold, voided.session, clock.nowMs());
    },
  }),
];

const REASONS = {
  session_closed: "the session is closed",
  session_expired: "the session has expired",
  session_budget_exceeded: "the session's budget does not cover this call",
} as const;
