import type { IncomingHttpHeaders } from "node:http";
import { TextDecoder } from "node:util";
import { type Agent, type Dispatcher, errors, request as undiciRequest } from "undici";
import { TOOL_ID_HEADER } from "../../toolkit/middleware/toolIdHeader.ts";
import { McpFailure } from "../McpFailure.ts";
import type { Growth } from "./createGrowth.ts";
import { currentExchange } from "./exchange.ts";
import { toolIdsInHeader } from "./toolIdsIn.ts";

export type HttpRequest = {
  agent: Agent;
  method: "GET" | "POST" | "DELETE";
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
};

export type HttpAnswer = { status: number; headers: IncomingHttpHeaders; contentType: string; body: Body };

export type Body = Dispatcher.ResponseData["body"];

// Of an answer that is no success, this much is read for its message.
const MAX_ERROR_BYTES = 8 * 1_024;
// Of an answer that was understood, this much more, and for so long.
const MAX_REST_BYTES = 8 * 1_024;
const REST_MS = 1_000;
// Cut to what fits into a sentence.
const MAX_ERROR_CHARACTERS = 500;
const MAX_TARGET_CHARACTERS = 200;

// One HTTP request to a tool. Nothing is followed and nothing is decompressed: an answer that comes compressed although only
// `identity` was accepted is refused, so that what is counted on the wire is all that there is.
export async function request(options: HttpRequest): Promise<HttpAnswer> {
  const exchange = currentExchange.getStore();
  if (exchange !== undefined) exchange.sent = true;
  try {
    const { statusCode, headers, body } = await undiciRequest(options.url, {
      dispatcher: options.agent,
      method: options.method,
      headers: {
        ...options.headers,
        "accept-encoding": "identity",
        ...(exchange?.token !== undefined && { authorization: `Bearer ${exchange.token}` }),
        ...(exchange?.requestId !== undefined && { "x-context-request-id": exchange.requestId }),
      },
      ...(options.body !== undefined && { body: options.body }),
      signal: options.signal,
    });
    // Whoever stops reading ends the body, which then complains to nobody.
    body.on("error", () => undefined);
    if (exchange !== undefined) exchange.toolIds = toolIdsInHeader(headers[TOOL_ID_HEADER]) ?? exchange.toolIds ?? null;
    const contentType = one(headers["content-type"]).split(";")[0]?.trim().toLowerCase() ?? "";
    const answer = { status: statusCode, headers, contentType, body };
    if (statusCode >= 300) throw await refusalOf(answer, options.url);
    const encoding = one(headers["content-encoding"]).trim().toLowerCase();
    if (encoding !== "" && encoding !== "identity") {
      body.destroy();
      throw new McpFailure("malformed", `the server sent ${encoding} although no compression was accepted`);
    }
    return answer;
  } catch (error) {
    const failure = failureOf(error);
    if (exchange !== undefined && isBeforeSending(failure)) exchange.sent = false;
    throw failure;
  }
}

// The whole body, up to a limit.
export async function readText(body: Body, maxBytes: number, growth?: Growth): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for await (const part of readChunks(body, maxBytes, growth)) text += decode(decoder, part, true);
  return text + decode(decoder, undefined, false);
}

// The parts of a body as they come, up to a limit for all of them.
export async function* readChunks(body: Body, maxBytes: number, growth?: Growth): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw new McpFailure("tooLarge", `the server's answer is larger than ${maxBytes} bytes`);
      await growth?.grown(chunk.byteLength);
      yield chunk;
    }
  } catch (error) {
    body.destroy();
    throw growth?.failure() ?? failureOf(error);
  } finally {
    void discard(body, bytes);
  }
}

export function decode(decoder: TextDecoder, chunk: Uint8Array | undefined, stream: boolean): string {
  try {
    return decoder.decode(chunk, { stream });
  } catch (error) {
    throw new McpFailure("malformed", "the server's answer is not UTF-8", { cause: error });
  }
}

// Lets an answer end of which nothing more is wanted, so that its connection can be used again; hangs up if the end is not
// near.
export const discard = (body: Body, readBytes = 0): Promise<void> =>
  body.dump({ limit: readBytes + MAX_REST_BYTES, signal: AbortSignal.timeout(REST_MS) }).catch(() => undefined);

export const one = (header: string | string[] | undefined): string =>
  (Array.isArray(header) ? header[0] : header) ?? "";

async function refusalOf({ status, headers, body }: HttpAnswer, url: URL): Promise<McpFailure> {
  if (status < 400) {
    body.destroy();
    const target = targetOf(one(headers.location), url);
    const message = `the server redirects to ${target}; register the final address, redirects are not followed`;
    return new McpFailure("redirected", message, { status });
  }
  const text = await readText(body, MAX_ERROR_BYTES).catch(() => "");
  const reason = { 401: "unauthorized", 403: "unauthorized", 429: "rateLimited" } as const;
  return new McpFailure(
    reason[status as keyof typeof reason] ?? "httpStatus",
    `the server answered HTTP ${status}${text === "" ? "" : `: ${text.trim().slice(0, MAX_ERROR_CHARACTERS)}`}`,
    { status },
  );
}

// Often it is the same address with a slash at its end. What follows a question mark may be a secret.
function targetOf(location: string, url: URL): string {
  const target = URL.parse(location, url.href);
  return target === null ? "elsewhere" : `${target.origin}${target.pathname}`.slice(0, MAX_TARGET_CHARACTERS);
}

// Thrown by the agent before a connection is there.
const isBeforeSending = ({ reason }: McpFailure) => reason === "unreachable" || reason === "forbiddenEndpoint";

function failureOf(error: unknown): McpFailure {
  if (error instanceof McpFailure) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const options = { cause: error };
  if (code === "UND_ERR_HEADERS_OVERFLOW") {
    return new McpFailure("tooLarge", "the headers of the server's answer are too large", options);
  }
  if (error instanceof errors.HTTPParserError) {
    return new McpFailure("malformed", `the server does not speak HTTP (${error.message})`, options);
  }
  return new McpFailure("disconnected", `the connection ended before the answer did (${code || "aborted"})`, options);
}
