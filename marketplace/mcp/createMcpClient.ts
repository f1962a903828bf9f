import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { abortable } from "./abortable.ts";
import { createEndpoint, type Endpoint } from "./createEndpoint.ts";
import { createAgent, type Resolve } from "./guard/createAgent.ts";
import type { AddressPolicy } from "./guard/isAllowedAddress.ts";
import { readEndpoint } from "./guard/readEndpoint.ts";
import { McpFailure } from "./McpFailure.ts";
import type { ClientInfo } from "./openSession.ts";
import type { CallOutcome, Failure, ToolFailed, ToolResult } from "./outcome.ts";
import type { Feedback } from "./pacing/createPacer.ts";
import { createRoom } from "./pacing/createRoom.ts";
import type { RateLimitHints } from "./pacing/hints.ts";
import type { Exchange } from "./transport/exchange.ts";
import { errorText, handshakeIn, unwrap } from "./unwrap.ts";

export type McpClientOptions = {
  // `public` outside of development.
  policy: AddressPolicy;
  info?: ClientInfo;
  // For a call, with everything that it waits for.
  callTimeoutMs?: number;
  // For the handshake with a server.
  connectTimeoutMs?: number;
  maxAnswerBytes?: number;
  resolve?: Resolve;
};

export type RequestOptions = {
  signal?: AbortSignal;
  // Signs the request, at the moment at which it is sent: it may have waited.
  token?: () => Promise<string>;
  requestId?: string;
  timeoutMs?: number;
};

export type CallOptions = RequestOptions & {
  rateLimit?: RateLimitHints;
  // Who calls. What one account meets slows that account; a method is slow for all once it is to several.
  account?: string;
  // What the tool is told beside the arguments, such as the charge that it may sign its answer for.
  meta?: Readonly<Record<string, unknown>>;
};

export type Arguments = Readonly<Record<string, unknown>>;

export type JsonSchema = Record<string, unknown>;

// A method as its server describes it. Nothing of it is trusted yet.
export type ListedMethod = {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema | undefined;
  annotations?: Record<string, unknown> | undefined;
  _meta?: Record<string, unknown> | undefined;
};

// As which tools a server says that it is sold. Null: it does not say, and whoever lists it first sells it.
export type Named = { toolIds: readonly string[] | null };

export type ListOutcome = ({ kind: "listed"; methods: readonly ListedMethod[] } & Named) | ToolFailed | Failure;

export type PingOutcome = ({ kind: "alive"; server: ClientInfo } & Named) | ToolFailed | Failure;

export type Connection = {
  // Shakes hands again, whatever is still open from before.
  ping(options?: RequestOptions): Promise<PingOutcome>;
  listTools(options?: RequestOptions): Promise<ListOutcome>;
  // Sends `tools/call` once at the most.
  callTool(name: string, args: Arguments, options?: CallOptions): Promise<CallOutcome>;
};

export type McpClient = {
  // Connects lazily, and again whenever it is needed. An endpoint that may not be called is a failure of the first request.
  connect(endpoint: string): Connection;
  close(): Promise<void>;
};

const CALL_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 15_000;
export const MAX_ANSWER_BYTES = 16 * 1_024 * 1_024;
// Of all servers together. Each may be of sixteen megabytes, and is several times that once it is read.
const MAX_LARGE_ANSWERS = 16;
const MAX_ENDPOINTS = 10_000;
const MAX_PAGES = 20;
const MAX_METHODS = 1_000;
// The SDK's timer must never be the first: the deadline here is the only one, and it covers waiting too.
const LONGER_THAN_ANY_CALL_MS = 2 ** 31 - 1;

const record = z.record(z.string(), z.unknown());

const resultSchema = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
  _meta: record.optional(),
});

const pageSchema = z.looseObject({
  tools: z.array(
    z.looseObject({
      name: z.string().min(1),
      title: z.string().optional(),
      description: z.string().optional(),
      inputSchema: record,
      outputSchema: record.optional(),
      annotations: record.optional(),
      _meta: record.optional(),
    }),
  ),
  nextCursor: z.string().optional(),
});

export function createMcpClient(options: McpClientOptions): McpClient {
  const { policy, callTimeoutMs = CALL_TIMEOUT_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const { info = { name: "context-marketplace", version: "1.0.0" }, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  const agent = createAgent({ policy, ...(options.resolve && { resolve: options.resolve }) });
  const room = createRoom(MAX_LARGE_ANSWERS);
  const endpoints = new LRUCache<string, Endpoint>({
    max: MAX_ENDPOINTS,
    dispose: (endpoint) => void endpoint.close(),
  });

  function endpointOf(address: string): Endpoint {
    const known = endpoints.get(address);
    if (known !== undefined) return known;
    const url = readEndpoint(address, policy);
    const endpoint = createEndpoint({ agent, url, maxAnswerBytes, info, connectTimeoutMs, room });
    endpoints.set(address, endpoint);
    return endpoint;
  }

  // What every request has in common: a deadline, the breaker, and an outcome of whatever goes wrong.
  async function attempt<T>(
    address: string,
    request: RequestOptions & { isPing?: boolean },
    work: (endpoint: Endpoint, exchange: Exchange) => Promise<T>,
  ): Promise<T | ToolFailed | Failure> {
    const timeoutMs = request.timeoutMs ?? callTimeoutMs;
    const ending = new AbortController();
    const exchange: Exchange = { token: undefined, requestId: request.requestId, signal: ending.signal, sent: false };
    let ended: "cancelled" | "timedOut" | undefined;
    const end = (how: "cancelled" | "timedOut") => {
      ended ??= how;
      ending.abort(new Error(how));
    };
    const cancel = () => end("cancelled");
    if (request.signal?.aborted) cancel();
    request.signal?.addEventListener("abort", cancel, { once: true });
    const timer = setTimeout(() => end("timedOut"), timeoutMs);
    let breaker: Endpoint["breaker"] | undefined;
    try {
      const endpoint = endpointOf(address);
      if (!request.isPing) {
        await abortable(
          endpoint.breaker.check(() => isThere(endpoint, request)),
          exchange.signal,
        );
      }
      breaker = endpoint.breaker;
      const outcome = await work(endpoint, exchange);
      breaker.succeeded();
      return outcome;
    } catch (error) {
      if (ended !== undefined) {
        const { sent } = exchange;
        return ended === "cancelled" ? { kind: "cancelled", sent } : { kind: "timedOut", afterMs: timeoutMs, sent };
      }
      const outcome = outcomeOf(error, exchange.sent);
      // Nothing of the tool's, such as a key that cannot sign: whoever operates this side has to hear of it.
      if (outcome === undefined) throw error;
      if (isOutage(outcome)) breaker?.failed();
      else if (outcome.kind === "toolFailed") breaker?.succeeded();
      if (mayBeOfSession(outcome)) endpoints.peek(address)?.forgetSession();
      return outcome;
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", cancel);
    }
  }

  const requestIn = (exchange: Exchange) => ({ signal: exchange.signal, timeout: LONGER_THAN_ANY_CALL_MS });

  async function sign(exchange: Exchange, { token }: RequestOptions): Promise<void> {
    if (token !== undefined) exchange.token = await token();
  }

  // Whether a server shakes hands, whatever it then says: not whoever happens to ask, but one for all, with a time of its own.
  async function isThere(endpoint: Endpoint, request: RequestOptions): Promise<boolean> {
    const signal = AbortSignal.timeout(connectTimeoutMs);
    const exchange: Exchange = { token: undefined, requestId: undefined, signal, sent: false };
    await sign(exchange, request);
    endpoint.forgetSession();
    try {
      await endpoint.inSession(exchange, async () => undefined);
      return true;
    } catch (error) {
      const outcome = outcomeOf(error, exchange.sent);
      return outcome !== undefined && !isOutage(outcome);
    }
  }

  function ping(address: string, request: RequestOptions): Promise<PingOutcome> {
    return attempt(address, { timeoutMs: connectTimeoutMs, ...request, isPing: true }, async (endpoint, exchange) => {
      await sign(exchange, request);
      endpoint.forgetSession();
      return endpoint.inSession(exchange, async ({ client, toolIds }) => {
        const { name = "", version = "" } = client.getServerVersion() ?? {};
        return { kind: "alive" as const, server: { name, version }, toolIds };
      });
    });
  }

  function listTools(address: string, request: RequestOptions): Promise<ListOutcome> {
    return attempt(address, request, async (endpoint, exchange) => {
      await sign(exchange, request);
      // As which tool it is sold may stand in its handshake, and may have changed.
      endpoint.forgetSession();
      return endpoint.inSession(exchange, async ({ client, ...session }) => {
        const methods: ListedMethod[] = [];
        let cursor: string | undefined;
        for (let page = 0; page < MAX_PAGES && methods.length <= MAX_METHODS; page++) {
          const params = cursor === undefined ? {} : { cursor };
          const answer = await client.request({ method: "tools/list", params }, pageSchema, requestIn(exchange));
          methods.push(...answer.tools);
          cursor = answer.nextCursor;
          const toolIds = exchange.toolIds ?? session.toolIds;
          if (cursor === undefined) return { kind: "listed" as const, methods, toolIds };
        }
        throw new McpFailure("tooLarge", `the server lists more than ${MAX_METHODS} methods or ${MAX_PAGES} pages`);
      });
    });
  }

  function callTool(address: string, name: string, args: Arguments, request: CallOptions): Promise<CallOutcome> {
    return attempt(address, request, async (endpoint, exchange) => {
      const leave = await endpoint.pacer(name).enter(request.rateLimit ?? {}, exchange.signal, request.account);
      let feedback: Feedback = "neutral";
      try {
        await sign(exchange, request);
        const params = { name, arguments: args, ...(request.meta && { _meta: request.meta }) };
        const raw: ToolResult = await endpoint.inSession(exchange, ({ client }) => {
          exchange.sent = false;
          return client.request({ method: "tools/call", params }, resultSchema, requestIn(exchange));
        });
        const outcome = judge(raw);
        const isThrottled = outcome.kind === "toolFailed" && saysThrottled(outcome.message, args);
        feedback = isThrottled ? "throttled" : "succeeded";
        return outcome;
      } catch (error) {
        const isTooLate = exchange.signal.aborted && request.signal?.aborted !== true && exchange.sent;
        if (isTooLate || (!exchange.signal.aborted && isThrottle(error, args))) feedback = "throttled";
        throw error;
      } finally {
        leave(feedback);
      }
    });
  }

  return {
    connect: (endpoint) => ({
      ping: (request = {}) => ping(endpoint, request),
      listTools: (request = {}) => listTools(endpoint, request),
      callTool: (name, args, request = {}) => callTool(endpoint, name, args, request),
    }),
    async close() {
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.close()));
      await agent.destroy();
    },
  };
}

function judge(raw: ToolResult): CallOutcome {
  if (raw.isError === true) return { kind: "toolFailed", message: errorText(raw), raw };
  const action = handshakeIn(raw);
  if (action !== undefined) return { kind: "handshakeRequired", action, raw };
  return { kind: "answered", result: unwrap(raw), raw };
}

function outcomeOf(error: unknown, sent: boolean): ToolFailed | Failure | undefined {
  if (error instanceof McpFailure) {
    const { reason, message, status } = error;
    return { kind: "infrastructure", reason, message, sent, ...(status !== undefined && { status }) };
  }
  // What the server itself said; the SDK puts the code before it.
  if (error instanceof McpError) {
    return { kind: "toolFailed", message: error.message.replace(/^MCP error -?\d+: /, "") };
  }
  // A result or a list that has not the shape that MCP gives it.
  if (error instanceof Error && error.name.endsWith("ZodError")) {
    return {
      kind: "infrastructure",
      reason: "malformed",
      message: `the server's answer is not MCP: ${faultIn(error)}`,
      sent,
    };
  }
  return undefined;
}

// The first of what is wrong, in one line; zod's own message is all of it as JSON.
function faultIn(error: Error): string {
  const [issue] = "issues" in error && Array.isArray(error.issues) ? (error.issues as z.core.$ZodIssue[]) : [];
  return issue === undefined ? error.message : `${issue.path.join(".")} ${issue.message}`.trim();
}

// What says that the server may be down. An answer that is too large or malformed is one caller's doing, and so may be a call that
// takes too long.
const isOutage = (outcome: ToolFailed | Failure) =>
  outcome.kind === "infrastructure" &&
  (outcome.reason === "unreachable" ||
    outcome.reason === "disconnected" ||
    (outcome.reason === "httpStatus" && (outcome.status ?? 0) >= 500));

// A server that no longer knows the session says 404, as MCP wants it, or 400, as the examples of its SDK do. Whatever the reason was, a
// new session costs one handshake.
const mayBeOfSession = (outcome: ToolFailed | Failure) =>
  outcome.kind === "infrastructure" &&
  (outcome.reason === "sessionLost" || (outcome.reason === "httpStatus" && (outcome.status ?? 0) < 500));

const THROTTLED = /rate.?limit|too many requests/i;

// Tools repeat in their errors what they were asked: words that a caller has put into a tool's mouth say nothing.
const saysThrottled = (message: string, args: Arguments) =>
  THROTTLED.test(message) && !THROTTLED.test(JSON.stringify(args));

const isThrottle = (error: unknown, args: Arguments) =>
  error instanceof McpFailure
    ? error.reason === "rateLimited" || saysThrottled(error.message, args)
    : error instanceof McpError && saysThrottled(error.message, args);
