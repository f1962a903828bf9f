import { z } from "zod";
import { formatUsd } from "../../../domain/money.ts";
import { sentenceOf } from "../../../domain/text/sentence.ts";
import { uuidFromToolId } from "../../../domain/toolId.ts";
import { creditReason } from "../../../engine/accept/preflight/preflight.ts";
import type { PriceRefusal } from "../../../engine/accept/prices.ts";
import type { RecordedOfMany, ReportedTurn } from "../../../engine/accept/turns/recordTurns.ts";
import { chargeSchema, chargeView } from "../../../views/charge.ts";
import * as shape from "../../../views/shapes.ts";
import { broughtIn } from "../../http/brought.ts";
import { ApiError, errorSchema, PAYER_REFUSALS } from "../../http/errors.ts";
import * as field from "../../http/fields.ts";
import { route, type Services } from "../../http/route.ts";
import { validate } from "../../http/validate.ts";
import { notKept } from "../budget.ts";
import { refusalOf } from "../startSession.ts";

const MAX_TOOLS = 100;
const MAX_TURNS = 500;
const MAX_BYTES = 2 * 1024 * 1024;

const turn = z.strictObject({
  turnId: field.name,
  payer: field.address,
  outcome: z.enum(["delivered", "failed"], 'must be "delivered" or "failed"'),
  modelCostUsd: field.usd,
  tools: z
    .array(
      z.strictObject({
        toolId: field.toolId,
        amountUsd: field.usd,
        calls: field.calls,
        schemaHash: field.hashOrNone,
      }),
      "must be a list",
    )
    .max(MAX_TOOLS, `has more than ${MAX_TOOLS} entries`),
  requestHash: field.hashOrNone,
  responseHash: field.hashOrNone,
  ...field.signed,
});

type TurnBody = z.output<typeof turn>;

// Each is read by itself, so that one that is wrong keeps no other from being recorded.
const turns = z.strictObject({
  turns: z.array(z.unknown(), "must be a list").min(1, "is empty").max(MAX_TURNS, `has more than ${MAX_TURNS} entries`),
});

const refusalCode = z.enum(["consent_required", "budget_exceeded", "budget_expired", "budget_tools", "price_exceeded"]);
const recordedTurn = z.object({ turnId: z.string(), chargeIds: z.array(shape.hash) });
const turnOutcome = z.discriminatedUnion("outcome", [
  recordedTurn.extend({ outcome: z.enum(["recorded", "duplicate"]) }),
  z.object({ outcome: z.enum(["conflict", "credit_exceeded"]), turnId: z.string(), message: z.string() }),
  z.object({
    outcome: z.literal("refused"),
    turnId: z.string(),
    code: refusalCode,
    message: z.string(),
    listed: errorSchema.shape.listed,
  }),
  z.object({ outcome: z.literal("invalid"), turnId: z.string().nullable(), message: z.string() }),
]);
type OutcomeOfTurn = z.output<typeof turnOutcome>;

export const turnRoutes = [
  route({
    method: "POST",
    path: "/v1/turns",
    access: "platform",
    summary: `Record a Query turn that was delivered, or failed, or up to ${MAX_TURNS} of them as a list \`turns\`; its id makes it happen once`,
    body: z.union([turn, turns]),
    example: {
      turnId: "turn-1",
      payer: field.example.address,
      outcome: "delivered",
      modelCostUsd: "0.01",
      tools: [{ toolId: field.example.toolId, amountUsd: "0.10", calls: 1 }],
    },
    maxBodyBytes: MAX_BYTES,
    answer: z.union([recordedTurn, z.object({ turns: z.array(turnOutcome) })]),
    errors: [
      "conflict",
      "overloaded",
      "credit_exceeded",
      "consent_required",
      "budget_forged",
      "budget_exceeded",
      "budget_expired",
      "budget_tools",
      "price_exceeded",
    ],
    async handle({ body, services, log }) {
      if ("turns" in body) {
        const outcomes = await recordAll(services, body.turns);
        const recorded = outcomes.filter(({ outcome }) => outcome === "recorded").length;
        log.info({ event: "accrued", turns: recorded, of: outcomes.length }, "accrued");
        // What was delivered and is refused at present is reported again, whether or not under the same key.
        return { body: { turns: outcomes }, mayChange: outcomes.some((one) => !("chargeIds" in one)) };
      }
      const { turnId } = body;
      const { turn, brought } = reportIn(body);
      const recorded = await services.engine.recordTurn(turn, brought);
      if (recorded.kind === "conflict") throw new ApiError("conflict", otherTurn(turnId));
      const { helpUrl } = services;
      if (recorded.kind === "budget_refused") throw notKept(recorded.refusal, helpUrl);
      if (recorded.kind === "credit_exceeded") throw new ApiError(recorded.kind, creditReason(recorded), { helpUrl });
      if (recorded.kind === "refused") throw new ApiError(recorded.code, recorded.reason, { helpUrl });
      if (recorded.kind === "price_exceeded") {
        throw new ApiError(recorded.kind, recorded.reason, { listed: listedOf(recorded) });
      }
      const { chargeIds } = recorded;
      if (recorded.kind === "recorded") log.info({ event: "accrued", turn: turnId, charges: chargeIds }, "accrued");
      return { body: { turnId, chargeIds: [...chargeIds] } };
    },
  }),
  route({
    method: "POST",
    path: "/v1/turns/:turnId/hold",
    access: "platform",
    summary:
      "Hold what a question may cost at the most before it runs, until its turn is recorded or voided, or for 45 minutes; again, the time begins again",
    params: z.object({ turnId: field.name }),
    body: z.strictObject({ payer: field.address, amountUsd: field.usd, ...field.signed }),
    example: { payer: field.example.address, amountUsd: "0.10" },
    answer: z.object({ turnId: z.string(), heldUsd: shape.usd }),
    errors: ["conflict", "overloaded", ...PAYER_REFUSALS],
    async handle({ params: { turnId }, body, services, log }) {
      const { payer, amountUsd: amount } = body;
      const held = await services.engine.holdTurn({ turnId, payer, amount }, broughtIn(body));
      if (held.kind === "conflict") throw new ApiError("conflict", otherTurn(turnId));
      if (held.kind === "budget_refused") throw notKept(held.refusal, services.helpUrl);
      if (held.kind === "refused") throw refusalOf(held.preflight, services.helpUrl);
      if (held.kind === "held") log.info({ event: "held", turn: turnId }, "held");
      return { body: { turnId, heldUsd: formatUsd(amount) } };
    },
  }),
  route({
    method: "POST",
    path: "/v1/turns/:turnId/void",
    access: "platform",
    summary: "Nothing is owed for the question: what was held for it is free again",
    params: z.object({ turnId: field.name }),
    body: z.strictObject({ payer: field.address }),
    example: { payer: field.example.address },
    answer: z.object({ turnId: z.string(), voided: z.boolean() }),
    errors: [],
    async handle({ params: { turnId }, body: { payer }, services: { engine }, log }) {
      const { kind } = await engine.voidTurn(turnId, payer);
      if (kind === "voided") log.info({ event: "voided", turn: turnId }, "voided");
      return { body: { turnId, voided: kind === "voided" } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/turns/:turnId",
    access: "platform",
    summary: "The charges of a turn",
    params: z.object({ turnId: field.name }),
    answer: z.object({ turnId: z.string(), charges: z.array(chargeSchema) }),
    errors: ["not_found"],
    async handle({ params: { turnId }, services: { ledger } }) {
      const charges = await ledger.listChargesOf({ turnId });
      if (charges.length === 0) throw new ApiError("not_found", `turn ${turnId} has no charges`);
      return { body: { turnId, charges: charges.map(chargeView) } };
    },
  }),
];

// Those that can be read are the engine's to answer.
async function recordAll({ engine }: Services, values: readonly unknown[]): Promise<OutcomeOfTurn[]> {
  const read = values.map(readOne);
  const reports = read.filter((one) => "turn" in one);
  const recorded = (await engine.recordTurns(reports)).values();
  return read.map((one) => {
    if (!("turn" in one)) return one;
    const { value } = recorded.next();
    if (value === undefined) throw new RangeError(`turn ${one.turn.id} was left out`);
    return outcomeOf(one.turn.id, value);
  });
}

function readOne(value: unknown): ReportedTurn | OutcomeOfTurn {
  try {
    return reportIn(validate(turn, value) as TurnBody);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { outcome: "invalid", turnId: nameIn(value), message: sentenceOf(error.message) };
  }
}

function outcomeOf(turnId: string, recorded: RecordedOfMany): OutcomeOfTurn {
  switch (recorded.kind) {
    case "invalid":
      return { outcome: recorded.kind, turnId, message: sentenceOf(recorded.reason) };
    case "budget_refused":
      return { outcome: "invalid", turnId, message: sentenceOf(recorded.refusal.reason) };
    case "conflict":
      return { outcome: recorded.kind, turnId, message: sentenceOf(otherTurn(turnId)) };
    case "credit_exceeded":
      return { outcome: recorded.kind, turnId, message: sentenceOf(creditReason(recorded)) };
    case "refused":
      return { outcome: "refused", turnId, code: recorded.code, message: sentenceOf(recorded.reason) };
    case "price_exceeded":
      return {
        outcome: "refused",
        turnId,
        code: recorded.kind,
        message: sentenceOf(recorded.reason),
        listed: listedOf(recorded),
      };
    default:
      return { outcome: recorded.kind, turnId, chargeIds: [...recorded.chargeIds] };
  }
}

const listedOf = ({ listed }: PriceRefusal) =>
  listed.map(({ toolId, most }) => ({ toolId: uuidFromToolId(toolId), atMostUsd: formatUsd(most) }));

const otherTurn = (turnId: string) => `there is another turn ${turnId}`;

function nameIn(value: unknown): string | null {
  const parsed = z.object({ turnId: field.name }).safeParse(value);
  return parsed.success ? parsed.data.turnId : null;
}

function reportIn({ turnId, modelCostUsd, tools, budget, signature, ...rest }: TurnBody): ReportedTurn {
  const turn = {
    id: turnId,
    modelCost: modelCostUsd,
    tools: tools.map(({ amountUsd, ...tool }) => ({ ...tool, amount: amountUsd })),
    ...rest,
  };
  return { turn, brought: broughtIn({ budget, signature }) };
}
