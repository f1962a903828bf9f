import type { FastifyError, FastifyInstance } from "fastify";
import type { ErrorCode } from "../domain/errors.ts";
import { SettlementError } from "../domain/errors.ts";
import type { SessionView } from "./views.ts";

// The protocol's codes, and below them those for what the protocol leaves to HTTP.
const STATUS_OF = {
  unauthorized: 401,
  no_wallet: 403,
  insufficient_allowance: 402,
  payment_failed: 402,
  execution_failed: 502,
  invalid_tool_method: 400,
  method_not_execute_eligible: 400,
  invalid_max_spend: 400,
  session_not_found: 404,
  session_closed: 409,
  session_expired: 409,
  session_budget_exceeded: 402,

  invalid_request: 400,
  not_found: 404,
  conflict: 409,
  idempotency_conflict: 409,
  timeout: 408,
  too_large: 413,
  unsupported_media_type: 415,
  headers_too_large: 431,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ApiCode = keyof typeof STATUS_OF;

export type ErrorBody = { error: string; code: ApiCode; helpUrl?: string; session?: SessionView };

// An answer other than the one that was asked for.
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ApiCode;
  readonly status: number;
  readonly body: ErrorBody;

  constructor(code: ApiCode, sentence: string, details: { helpUrl?: string | null; session?: SessionView } = {}) {
    super(sentence);
    this.code = code;
    this.status = STATUS_OF[code];
    this.body = {
      error: sentence,
      code,
      ...(details.helpUrl && { helpUrl: details.helpUrl }),
      ...(details.session && { session: details.session }),
    };
  }
}

// What the engine throws is told apart by its code. Only a mistake of the caller is explained to the caller.
const CODE_OF: Partial<Record<ErrorCode, ApiCode>> = {
  invalid_amount: "invalid_request",
  invalid_tool_id: "invalid_request",
  invalid_input: "invalid_request",
  ledger_unavailable: "unavailable",
  chain_unavailable: "unavailable",
};

// Fastify's own refusals, by their codes.
const CODE_OF_FASTIFY: Readonly<Record<string, [ApiCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ["too_large", "The body is too large."],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["unsupported_media_type", "The body has to be application/json."],
  FST_ERR_CTP_INVALID_JSON_BODY: ["invalid_request", "The body is not valid JSON."],
  FST_ERR_CTP_EMPTY_JSON_BODY: ["invalid_request", "The body is empty; it has to be a JSON object."],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["invalid_request", "The body is not as long as its Content-Length says."],
  FST_ERR_HANDLER_TIMEOUT: ["unavailable", "This took too long; try again later."],
  FST_ERR_BAD_URL: ["invalid_request", "The address is not a valid URL."],
};

export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof SettlementError) {
    const code = CODE_OF[error.code] ?? "internal";
    if (code === "invalid_request") return new ApiError(code, sentenceOf(error.message));
    if (code === "unavailable") return new ApiError(code, "The service cannot do this at present; try again later.");
  }
  const { code, statusCode } = (error ?? {}) as Partial<FastifyError>;
  const known = CODE_OF_FASTIFY[code ?? ""];
  if (known !== undefined) return new ApiError(...known);
  if (error instanceof SyntaxError || statusCode === 400) {
    return new ApiError("invalid_request", "The request cannot be read.");
  }
  return new ApiError("internal", "Something went wrong here; it has been logged.");
}

// Whatever goes wrong is answered in one shape.
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    const answer = apiErrorOf(error);
    if (answer.status >= 500) request.log.error({ err: error, code: answer.code }, "request failed");
    if (answer.code === "unavailable") reply.header("retry-after", "1");
    return reply.code(answer.status).send(answer.body);
  });
  app.setNotFoundHandler((request, reply) => {
    const { status, body } = new ApiError("not_found", `There is no ${request.method} ${pathOf(request.url)}.`);
    return reply.code(status).send(body);
  });
}

// What cannot even be read as HTTP has no request to answer, only a socket.
export function rawAnswerOf(code: string | undefined): string {
  const [apiCode, sentence]: [ApiCode, string] =
    code === "HPE_HEADER_OVERFLOW"
      ? ["headers_too_large", "The headers are too large."]
      : code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? ["timeout", "The request took too long to arrive."]
        : ["invalid_request", "This is not a valid HTTP request."];
  const body = JSON.stringify({ error: sentence, code: apiCode } satisfies ErrorBody);
  return [
    `HTTP/1.1 ${STATUS_OF[apiCode]} ${apiCode}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    "",
    body,
  ].join("\r\n");
}

const MAX_PATH_SHOWN = 200;
const pathOf = (url: string) => (url.split("?")[0] ?? "").slice(0, MAX_PATH_SHOWN);

function sentenceOf(message: string): string {
  const sentence = `${message[0]?.toUpperCase()}${message.slice(1)}`;
  return sentence.endsWith(".") ? sentence : `${sentence}.`;
}
