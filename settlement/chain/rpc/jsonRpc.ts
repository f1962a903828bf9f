import type { Hex } from "viem";

// What a node said no to. The code is what it sent, which need not fit what it says.
export class JsonRpcError extends Error {
  override readonly name = "JsonRpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(error: { code: number; message: string; data?: unknown }) {
    super(error.message);
    this.code = error.code;
    this.data = error.data;
  }
}

export type FailureKind = "timeout" | "network" | "rate_limited" | "http_status" | "invalid_answer";

// An endpoint that gave no answer at all. Messages never hold its address, which may contain an API key.
export class EndpointFailure extends Error {
  override readonly name = "EndpointFailure";
  readonly kind: FailureKind;
  // Whether the node may have acted on the request all the same.
  readonly mayHaveArrived: boolean;
  readonly retryAfterMs: number;

  constructor(
    kind: FailureKind,
    message: string,
    options: { mayHaveArrived?: boolean; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.mayHaveArrived = options.mayHaveArrived ?? true;
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}

// Codes that providers send with HTTP status 200 when they want fewer requests: the standard one, QuickNode's, and the
// HTTP status itself.
const RATE_LIMIT_CODES: ReadonlySet<number> = new Set([-32005, -32007, 429]);

// Failures that happen before a connection stands, so that nothing was sent.
const NOT_CONNECTED: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"]);

const TOO_MANY_REQUESTS = 429;

// The receipt of the largest batch has about 2 MB. Whoever sends more than this does not answer, but fills the memory.
const MAX_ANSWER_BYTES = 32 * 2 ** 20;

// Asks one node one question. Resolves with what the node answered, and throws a JsonRpcError for its no and an
// EndpointFailure for anything that is not an answer.
export async function postJsonRpc(request: {
  url: string;
  id: number;
  method: string;
  params: readonly unknown[];
  timeoutMs: number;
}): Promise<unknown> {
  const { url, id, method, params, timeoutMs } = request;
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
      redirect: "error",
      // The signal also ends a body that stops in the middle.
      signal: AbortSignal.timeout(timeoutMs),
    });
    text = await textOf(response);
  } catch (error) {
    throw error instanceof EndpointFailure ? error : failureOf(error, timeoutMs);
  }

  if (response.status === TOO_MANY_REQUESTS) {
    throw new EndpointFailure("rate_limited", "asks for fewer requests", {
      mayHaveArrived: false,
      retryAfterMs: retryAfterMsOf(response),
    });
  }
  const answer = answerOf(text, id);
  if (answer?.error) {
    if (RATE_LIMIT_CODES.has(answer.error.code)) {
      throw new EndpointFailure("rate_limited", `asks for fewer requests: ${answer.error.message}`, {
        mayHaveArrived: false,
      });
    }
    // Some providers put the node's no under an HTTP status of its own; it is still the node's no.
    throw new JsonRpcError(answer.error);
  }
  if (!response.ok) throw new EndpointFailure("http_status", `answered with HTTP status ${response.status}`);
  if (!answer) throw new EndpointFailure("invalid_answer", "answered with something that is not JSON-RPC");
  return answer.result;
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    // Leaving the loop also closes the connection.
    if (bytes > MAX_ANSWER_BYTES) {
      throw new EndpointFailure("invalid_answer", `answered with more than ${MAX_ANSWER_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function failureOf(error: unknown, timeoutMs: number): EndpointFailure {
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return new EndpointFailure("timeout", `did not answer within ${timeoutMs} ms`, { cause: error });
  }
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return new EndpointFailure("network", `could not be reached${code ? ` (${String(code)})` : ""}`, {
    mayHaveArrived: !NOT_CONNECTED.has(code),
    cause: error,
  });
}

type Answer = { result: unknown; error?: { code: number; message: string; data?: unknown } };

function answerOf(text: string, id: number): Answer | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(body)) return undefined;
  // A node that could not read the request does not know its id.
  if (isRecord(body.error) && (body.id === id || body.id === null || body.id === undefined)) {
    const { code, message, data } = body.error;
    return { result: undefined, error: { code: Number(code), message: String(message), data } };
  }
  return body.id === id && body.result !== undefined ? { result: body.result } : undefined;
}

function retryAfterMsOf(response: Response): number {
  const seconds = Number(response.headers.get("retry-after"));
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 0;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

// What a reverted call returned; undefined if the error is no revert. Nodes put it in different places: geth, reth,
// erigon and anvil as plain data with code 3, nethermind behind a word, others inside an object.
const REVERT_CODE = 3;
const RETURNED = /^(?:reverted )?(0x(?:[0-9a-f]{2})*)$/i;

export function revertDataOf(error: JsonRpcError): Hex | undefined {
  const data = isRecord(error.data) ? error.data.data : error.data;
  const bytes = typeof data === "string" ? RETURNED.exec(data)?.[1] : undefined;
  if (bytes !== undefined) return bytes as Hex;
  return error.code === REVERT_CODE ? "0x" : undefined;
}
