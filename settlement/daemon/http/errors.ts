import type { FastifyError, FastifyInstance } from "fastify";
import { z } from "zod";
import type { ErrorCode } from "../../domain/errors.ts";
import { SettlementError } from "../../domain/errors.ts";
import { sentenceOf } from "../../domain/text/sentence.ts";
import { type SessionView, sessionSchema } from "../../views/session.ts";

// The protocol's codes, and below them those for what the protocol leaves to HTTP.
const STATUS_OF = {
  unauthorized: 401,
  no_wallet: 400,
  insufficient_allowance: 402,
  payment_failed: 402,
  // More would be delivered without being settled than the payer has credit for.
  credit_exceeded: 402,
  // The payer demands a signed budget, and there is none.
  consent_required: 402,
  // There is one: it was not signed by the payer, leaves too little, ends too soon, or is for other tools.
  budget_forged: 400,
  budget_exceeded: 402,
  budget_expired: 402,
  budget_tools: 402,
  // A turn asks more for a tool than it is listed for on chain.
  price_exceeded: 409,
  // The tool failed and would fail again: clients repeat what is above 499.
  execution_failed: 422,
  query_failed: 422,
  invalid_tool_method: 400,
  method_not_execute_eligible: 400,
  invalid_max_spend: 400,
  wallet_link_required: 400,
  action_requires_signature: 400,
  session_not_found: 404,
  session_forbidden: 403,
  session_closed: 409,
  session_expired: 409,
  max_spend_mismatch: 409,
  session_budget_exceeded: 402,
  too_many_sessions: 429,

  invalid_request: 400,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  idempotency_conflict: 409,
  timeout: 408,
  too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  headers_too_large: 431,
  rate_limited: 429,
  overloaded: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ApiCode = keyof typeof STATUS_OF;

// Why a payer cannot be charged for what it wants. Whatever costs money can be answered with them.
export const PAYER_REFUSALS = [
  "insufficient_allowance",
  "payment_failed",
  "credit_exceeded",
  "consent_required",
  "budget_forged",
  "budget_exceeded",
  "budget_expired",
  "budget_tools",
] as const satisfies readonly ApiCode[];

// Why a session takes no call.
export const SESSION_REFUSALS = [
  "session_not_found",
  "session_closed",
  "session_expired",
  "session_budget_exceeded",
] as const satisfies readonly ApiCode[];

export const statusOf = (code: ApiCode) => STATUS_OF[code];

export const errorSchema = z
  .object({
    error: z.string().meta({ description: "A sentence for people" }),
    code: z.enum(Object.keys(STATUS_OF) as [ApiCode]).meta({ description: "Stays the same between versions" }),
    helpUrl: z.url().optional().meta({ description: "Where the payer reads what to do about it" }),
    session: sessionSchema.optional(),
    listed: z
      .array(z.object({ toolId: z.string(), atMostUsd: z.string() }))
      .optional()
      .meta({ description: "What tools cost at the most of which more was asked" }),
  })
  .meta({ id: "Error" });

export type ErrorBody = z.infer<typeof errorSchema>;

export type ErrorDetails = {
  helpUrl?: string | null;
  session?: SessionView;
  listed?: ErrorBody["listed"];
  retryAfterMs?: number | null;
};

// An answer other than the one that was asked for.
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ApiCode;
  readonly status: number;
  readonly body: ErrorBody;
  readonly retryAfterMs: number | null;

  constructor(code: ApiCode, message: string, details: ErrorDetails = {}) {
    super(message);
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.code = code;
    this.status = STATUS_OF[code];
    this.body = {
      error: sentenceOf(message),
      code,
      ...(details.helpUrl && { helpUrl: details.helpUrl }),
      ...(details.session && { session: details.session }),
      ...(details.listed && { listed: details.listed }),
    };
  }
}

// What the engine throws is told apart by its code. Only a mistake of the caller is explained to the caller.
const CODE_OF: Partial<Record<ErrorCode, ApiCode>> = {
  invalid_amount: "invalid_request",
  invalid_tool_id: "invalid_request",
  invalid_input: "invalid_request",
  ledger_unavailable: "unavailable",
  archive_unavailable: "unavailable",
  chain_unavailable: "unavailable",
  overloaded: "overloaded",
};

// Fastify's own refusals, by their codes.
const CODE_OF_FASTIFY: Readonly<Record<string, [ApiCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ["too_large", "the body is too large"],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["unsupported_media_type", "the body must be application/json"],
  FST_ERR_CTP_INVALID_JSON_BODY: [
    "invalid_request",
    "the body is not valid JSON, or has a member named __proto__ or constructor.prototype",
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ["invalid_request", "the body is empty; it must be a JSON object"],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["invalid_request", "the body is not as long as its Content-Length says"],
  FST_ERR_MAX_PARAM_LENGTH: ["not_found", "the address has a part that is too long"],
  FST_STATIC_FORBIDDEN_PATH: ["not_found", "there is no such file"],
  FST_ERR_BAD_URL: ["invalid_request", "the address is not a valid URL"],
};

export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof SettlementError) {
    const code = CODE_OF[error.code] ?? "internal";
    if (code === "invalid_request") return new ApiError(code, error.message);
    if (code === "overloaded") return new ApiError(code, error.message, { retryAfterMs: error.retryAfterMs });
    if (code === "unavailable") return new ApiError(code, "the service cannot do this at present; try again later");
  }
  const { code, statusCode } = (error ?? {}) as Partial<FastifyError>;
  const known = CODE_OF_FASTIFY[code ?? ""];
  if (known !== undefined) return new ApiError(...known);
  if (error instanceof SyntaxError || statusCode === 400) {
    return new ApiError("invalid_request", "the request cannot be read");
  }
  return new ApiError("internal", "something went wrong here; it has been logged");
}

// An answer may hold an API key or somebody's sums: nothing on the way keeps it, or takes it for anything but what it is.
export const EVERY_ANSWER = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;

// Whatever goes wrong is answered in one shape.
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    const answer = apiErrorOf(error);
    if (answer.status >= 500) request.log.error({ err: error, code: answer.code }, "request failed");
    const retryAfterMs = answer.retryAfterMs ?? (answer.code === "unavailable" ? 1_000 : null);
    if (retryAfterMs !== null) reply.header("retry-after", `${Math.ceil(retryAfterMs / 1_000)}`);
    return reply.code(answer.status).send(answer.body);
  });
  app.setNotFoundHandler((request, reply) => {
    const { status, body } = new ApiError("not_found", `there is no ${request.method} ${pathOf(request.url)}`);
    return reply.code(status).send(body);
  });
}

const MAX_PATH_SHOWN = 200;
const pathOf = (url: string) => (url.split("?")[0] ?? "").slice(0, MAX_PATH_SHOWN);
