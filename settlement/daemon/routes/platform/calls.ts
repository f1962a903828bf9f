import { z } from "zod";
import type { Hold, Session } from "../../../domain/session.ts";
import { ApiError } from "../../errors.ts";
import * as field from "../../fields.ts";
import { route } from "../../route.ts";
import { refusalOf } from "../../startSession.ts";
import { callView, sessionView } from "../../views.ts";

const params = z.object({ callId: field.name });

const answerOf = (hold: Hold, session: Session, nowMs: number) => ({
  body: { call: callView(hold), session: sessionView(session, nowMs) },
});

const noCall = (callId: string) => new ApiError("not_found", `There is no call ${callId}.`);

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
    }),
    async handle({ body, services, log }) {
      const { engine, ledger, clock, helpUrl } = services;
      const { callId, sessionId, toolId, method, priceUsd: amount } = body;
      // A call that was held before is the same call, whatever its payer can spend by now.
      const known = await ledger.call(callId);
      const held =
        known === null
          ? await engine.hold({ callId, sessionId, toolId, method, amount })
          : await ledger.hold({ callId, sessionId, toolId, method, amount }, clock.nowMs());
      switch (held.kind) {
        case "held":
        case "duplicate":
          if (held.kind === "held") log.info({ event: "held", call: callId, session: sessionId }, "held");
          return answerOf(held.hold, held.session, clock.nowMs());
        case "conflict":
          throw new ApiError("conflict", `There is another call ${callId}.`);
        case "session_not_found":
          throw new ApiError("session_not_found", `There is no session ${sessionId}.`);
        case "refused":
          throw refusalOf(held.preflight, helpUrl, sessionView(held.session, clock.nowMs()));
        default:
          throw new ApiError(held.kind, SENTENCES[held.kind], { session: sessionView(held.session, clock.nowMs()) });
      }
    },
  }),
  route({
    method: "GET",
    path: "/v1/calls/:callId",
    access: "platform",
    summary: "Show a call",
    params,
    async handle({ params: { callId }, services: { ledger } }) {
      const call = await ledger.call(callId);
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
    async handle({ params: { callId }, body, services: { engine, clock }, log }) {
      const hashes = { request: body.requestHash, response: body.responseHash, schema: body.schemaHash };
      const captured = await engine.capture(callId, hashes);
      if (captured.kind === "hold_not_found") throw noCall(callId);
      if (captured.kind === "voided") {
        const session = sessionView(captured.session, clock.nowMs());
        throw new ApiError("conflict", "The call was voided before.", { session });
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
    body: z.strictObject({}).optional(),
    async handle({ params: { callId }, services: { engine, clock }, log }) {
      const voided = await engine.void(callId);
      if (voided.kind === "hold_not_found") throw noCall(callId);
      if (voided.kind === "captured") {
        const session = sessionView(voided.session, clock.nowMs());
        throw new ApiError("conflict", "The call was captured before.", { session });
      }
      if (voided.kind === "voided") log.info({ event: "voided", call: callId }, "voided");
      return answerOf(voided.hold, voided.session, clock.nowMs());
    },
  }),
];

const SENTENCES = {
  session_closed: "The session is closed.",
  session_expired: "The session has expired.",
  session_budget_exceeded: "The session's budget does not cover this call.",
} as const;
