import { z } from "zod";
import { SettlementError } from "../../../domain/errors.ts";
import { sentenceOf } from "../../../domain/sentence.ts";
import type { Turn } from "../../../domain/turn.ts";
import { creditReason } from "../../../engine/accept/preflight.ts";
import { chargeSchema, chargeView } from "../../../views/charge.ts";
import * as shape from "../../../views/shapes.ts";
import { ApiError } from "../../http/errors.ts";
import * as field from "../../http/fields.ts";
import { route, type Services } from "../../http/route.ts";
import { validate } from "../../http/validate.ts";
import { keepBrought } from "../budget.ts";

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

const budgetCode = z.enum(["consent_required", "budget_exceeded", "budget_expired", "budget_tools"]);
const recordedTurn = z.object({ turnId: z.string(), chargeIds: z.array(shape.hash) });
const turnOutcome = z.discriminatedUnion("outcome", [
  recordedTurn.extend({ outcome: z.enum(["recorded", "duplicate"]) }),
  z.object({ outcome: z.enum(["conflict", "credit_exceeded"]), turnId: z.string(), message: z.string() }),
  z.object({ outcome: z.literal("refused"), turnId: z.string(), code: budgetCode, message: z.string() }),
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
    ],
    async handle({ body, services, log }) {
      if ("turns" in body) {
        const outcomes = await Promise.all(body.turns.map((one) => record(services, one)));
        const recorded = outcomes.filter(({ outcome }) => outcome === "recorded").length;
        log.info({ event: "accrued", turns: recorded, of: outcomes.length }, "accrued");
        return { body: { turns: outcomes } };
      }
      const { turnId } = body;
      const recorded = await recordOne(services, body);
      if (recorded.kind === "conflict") throw new ApiError("conflict", otherTurn(turnId));
      const { helpUrl } = services;
      if (recorded.kind === "credit_exceeded") throw new ApiError(recorded.kind, creditReason(recorded), { helpUrl });
      if (recorded.kind === "refused") throw new ApiError(recorded.code, recorded.reason, { helpUrl });
      const { chargeIds } = recorded;
      if (recorded.kind === "recorded") log.info({ event: "accrued", turn: turnId, charges: chargeIds }, "accrued");
      return { body: { turnId, chargeIds: [...chargeIds] } };
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

// One of a list. A fault of its own is its outcome; a fault of the service fails the whole request, which is then sent again.
async function record(services: Services, value: unknown): Promise<OutcomeOfTurn> {
  try {
    const body = validate(turn, value) as TurnBody;
    const { turnId } = body;
    const recorded = await recordOne(services, body);
    switch (recorded.kind) {
      case "conflict":
        return { outcome: recorded.kind, turnId, message: sentenceOf(otherTurn(turnId)) };
      case "credit_exceeded":
        return { outcome: recorded.kind, turnId, message: sentenceOf(creditReason(recorded)) };
      case "refused":
        return { outcome: "refused", turnId, code: recorded.code, message: sentenceOf(recorded.reason) };
      default:
        return { outcome: recorded.kind, turnId, chargeIds: [...recorded.chargeIds] };
    }
  } catch (error) {
    const isItsOwn = error instanceof ApiError || (error instanceof SettlementError && error.code === "invalid_input");
    if (!isItsOwn) throw error;
    return { outcome: "invalid", turnId: nameIn(value), message: sentenceOf(error.message) };
  }
}

const otherTurn = (turnId: string) => `there is another turn ${turnId}`;

function nameIn(value: unknown): string | null {
  const parsed = z.object({ turnId: field.name }).safeParse(value);
  return parsed.success ? parsed.data.turnId : null;
}

// What comes with a signature is kept first, and then drawn on.
async function recordOne(services: Services, body: TurnBody) {
  const budgetId = await keepBrought(services, body.payer, body);
  return services.engine.recordTurn({ ...turnFrom(body), budgetId });
}

const turnFrom = ({ turnId, modelCostUsd, tools, budget: _, signature: __, ...rest }: TurnBody): Turn => ({
  id: turnId,
  modelCost: modelCostUsd,
  tools: tools.map(({ amountUsd, ...tool }) => ({ ...tool, amount: amountUsd })),
  ...rest,
});
