import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type ApiCode, ApiError, EVERY_ANSWER } from "../errors.ts";

// What Node itself would answer, or not answer at all, before a request gets to Fastify: each in the shape of every error.

// What cannot even be read as HTTP has no request to answer, only a socket.
export function answerUnreadable({ code }: Error & { code?: string }, socket: Socket): void {
  const [apiCode, message]: [ApiCode, string] =
    code === "HPE_HEADER_OVERFLOW"
      ? ["headers_too_large", "the headers are too large"]
      : code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? ["timeout", "the request took too long to arrive"]
        : ["invalid_request", "this is not a valid HTTP request"];
  endWith(socket, new ApiError(apiCode, message));
}

// This side is no proxy.
export function refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
  // Whoever asked may be gone before the answer is, which is no concern of anybody else.
  socket.on("error", () => undefined);
  endWith(socket, new ApiError("not_found", "there is no CONNECT here; this is not a proxy"));
}

export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const { status, body } = new ApiError("expectation_failed", "send no header Expect other than 100-continue");
  response.writeHead(status, { ...HEADERS, connection: "close" }).end(JSON.stringify(body));
}

const HEADERS = { ...EVERY_ANSWER, "content-type": "application/json; charset=utf-8" } as const;

function endWith(socket: Duplex, { status, body: answer }: ApiError): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(answer);
  const headers = { ...HEADERS, "content-length": Buffer.byteLength(body), connection: "close" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, "", body].join("\r\n"));
}
