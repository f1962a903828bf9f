import type { IncomingMessage } from "node:http";
import type { ContextClaims, Verifier } from "./createVerifier.ts";
import { UnauthorizedError } from "./createVerifier.ts";
import { needsToken } from "./methods.ts";

// What a request carries once it was let through. `auth` is where the MCP SDK looks, and hands on to a tool's handler as
// `extra.authInfo`.
export type ContextRequest = {
  body?: unknown;
  context?: ContextClaims;
  auth?: { token: string; clientId: string; scopes: string[]; expiresAt: number; extra: ContextClaims };
};

export type Check = { kind: "passed" } | { kind: "refused"; status: 400 | 401 | 413; error: string };

const MAX_BODY_BYTES = 4 * 1_024 * 1_024;

// The rule that all servers share: reads the body if nobody has, looks for a protected method in it, and verifies the token
// if there is one. `carriers` are the objects on which a handler looks for the claims.
export async function checkRequest(
  request: IncomingMessage & ContextRequest,
  verify: Verifier,
  carriers: readonly ContextRequest[] = [request],
): Promise<Check> {
  // Only a POST calls, and what nobody has parsed could call unseen.
  if (request.method === "POST") {
    const read = await readOf(request);
    if (read.kind === "refused") return read;
    request.body = read.body;
  }
  if (!needsToken(request.body)) return { kind: "passed" };
  const { authorization = "" } = request.headers;
  try {
    const claims = await verify(authorization);
    const auth = {
      token: authorization.slice("Bearer ".length),
      clientId: claims.sub ?? claims.iss,
      scopes: [],
      expiresAt: claims.exp,
      extra: claims,
    };
    for (const carrier of carriers) Object.assign(carrier, { context: claims, auth });
    return { kind: "passed" };
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    return { kind: "refused", status: 401, error: "Unauthorized" };
  }
}

type Read = { kind: "read"; body: unknown } | Extract<Check, { kind: "refused" }>;
type Unparsed = string | Buffer | undefined;

// The body as whoever handles it will see it. Parsers that do not know a content type leave an empty object behind, or
// nothing, and the bytes for somebody else to read: then those count.
async function readOf(request: IncomingMessage & ContextRequest): Promise<Read> {
  const { body } = request;
  if (typeof body === "string" || Buffer.isBuffer(body)) return parse(body);
  if (body !== undefined && (request.readableDidRead || !request.readable)) return { kind: "read", body };
  const unread = await readBody(request);
  return body !== undefined && unread?.length === 0 ? { kind: "read", body } : parse(unread);
}

// Undefined if it is too large.
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parse(text: Unparsed): Read {
  if (text === undefined) return { kind: "refused", status: 413, error: "Payload Too Large" };
  try {
    return { kind: "read", body: JSON.parse(text.toString()) };
  } catch {
    return { kind: "refused", status: 400, error: "Bad Request" };
  }
}
