import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import { McpFailure } from "../McpFailure.ts";
import { answerIn, requestIdOf } from "./answer.ts";
import { createGrowth } from "./createGrowth.ts";
import { everybodyHeard, type GuardedTransport, type TransportOptions } from "./createHttpTransport.ts";
import { currentExchange } from "./exchange.ts";
import { readEvents } from "./readEvents.ts";
import { readJson } from "./readJson.ts";
import { discard, request } from "./request.ts";

type Waiting = { resolve(answer: JSONRPCMessage): void; reject(error: unknown): void };

const COURTESY_MS = 5_000;
// Calls share a stream here, so it may bring several answers of the largest size before its session is replaced.
const ANSWERS_PER_STREAM = 16;

// HTTP with server-sent events, the transport of MCP before 2025: a stream for everything that the server says, and a POST
// for each message to it. A stream that ends is not opened again; whoever waits hears of it, and the next call begins again.
export function createSseTransport({ agent, url, maxAnswerBytes, large }: TransportOptions): GuardedTransport {
  const closing = new AbortController();
  const waiting = new Map<RequestId, Waiting>();
  const opened = Promise.withResolvers<URL>();
  // Without an exchange, because a stream outlives the request that has opened it.
  opened.promise.catch(() => undefined);
  let ended: unknown;

  function hear({ event, data }: { event?: string | undefined; data: string }): void {
    if (event === "endpoint") {
      const target = URL.parse(data, url.href);
      if (target?.origin !== url.origin) {
        throw new McpFailure("forbiddenEndpoint", "the server wants its messages at another origin than its own");
      }
      opened.resolve(target);
    } else if ((event === undefined || event === "message") && data !== "") {
      const message = readJson(data);
      for (const [id, caller] of waiting) {
        const answer = answerIn(message, id);
        if (answer === undefined) continue;
        waiting.delete(id);
        caller.resolve(answer);
      }
    }
  }

  async function listen(): Promise<never> {
    const answer = await request({
      agent,
      method: "GET",
      url,
      headers: { accept: "text/event-stream" },
      signal: closing.signal,
    });
    if (answer.contentType !== "text/event-stream") {
      answer.body.destroy();
      throw new McpFailure("malformed", `the server answered ${answer.contentType || "without a content type"}`);
    }
    const growth = createGrowth(answer.body, large, closing.signal);
    const maxBytes = ANSWERS_PER_STREAM * maxAnswerBytes;
    try {
      for await (const event of readEvents(answer.body, maxBytes, growth, maxAnswerBytes)) {
        hear(event);
        // Each event is an answer of its own, and has a place for itself.
        growth.end();
      }
    } finally {
      growth.end();
    }
    throw new McpFailure("disconnected", "the server ended its stream of events");
  }

  async function post(message: JSONRPCMessage, signal: AbortSignal): Promise<void> {
    const answer = await request({
      agent,
      method: "POST",
      url: await opened.promise,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(message),
      signal,
    });
    await discard(answer.body);
  }

  const transport: GuardedTransport = {
    async start() {
      const signal = currentExchange.getStore()?.signal;
      signal?.throwIfAborted();
      signal?.addEventListener("abort", () => opened.reject(signal.reason), { once: true });
      listen().catch((error: unknown) => {
        ended = error;
        opened.reject(error);
        for (const caller of waiting.values()) caller.reject(error);
        waiting.clear();
      });
      await opened.promise;
    },

    async send(message) {
      const id = requestIdOf(message);
      if (id === undefined) {
        await post(message, AbortSignal.any([closing.signal, AbortSignal.timeout(COURTESY_MS)]));
        return;
      }
      if (ended !== undefined) throw ended;
      const exchange = currentExchange.getStore();
      const signal = exchange ? AbortSignal.any([closing.signal, exchange.signal]) : closing.signal;
      const answered = Promise.withResolvers<JSONRPCMessage>();
      waiting.set(id, answered);
      signal.addEventListener("abort", () => answered.reject(signal.reason), { once: true });
      try {
        const [answer] = await Promise.all([answered.promise, post(message, signal)]);
        transport.onmessage?.(answer);
      } finally {
        waiting.delete(id);
      }
    },

    isOver: () => ended !== undefined,

    async close() {
      closing.abort();
      await everybodyHeard();
      transport.onclose?.();
    },
  };
  return transport;
}
