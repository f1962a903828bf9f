import { setImmediate } from "node:timers/promises";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import type { Agent } from "undici";
import { McpFailure } from "../McpFailure.ts";
import { answerIn, requestIdOf } from "./answer.ts";
import { createGrowth, type Growth, type Large } from "./createGrowth.ts";
import { currentExchange } from "./exchange.ts";
import { readEvents } from "./readEvents.ts";
import { readJson } from "./readJson.ts";
import { discard, type HttpAnswer, one, readText, request } from "./request.ts";

export type TransportOptions = {
  agent: Agent;
  url: URL;
  maxAnswerBytes: number;
  large: Large;
};

export type GuardedTransport = Transport & {
  // Whether nothing can be asked over it any more.
  isOver(): boolean;
};

// The SDK tells all who wait that the connection was closed, in words that could be the server's own. Those who wait are told
// why beforehand, by `send`, and need a turn to hear it.
export const everybodyHeard = () => setImmediate();

const SESSION_ID = /^[\x21-\x7e]{1,256}$/;
// For what nobody waits for: notifications, and the end of a session.
const COURTESY_MS = 5_000;

// Streamable HTTP for a client that trusts nobody. The SDK's own transport reconnects as often as a server asks it to, keeps
// a stream open for messages that nobody reads, and waits without end if an answer ends without the answer. Here a request is
// one HTTP exchange: `send` ends when its answer has come, and throws when it can no longer come.
export function createHttpTransport({ agent, url, maxAnswerBytes, large }: TransportOptions): GuardedTransport {
  const closing = new AbortController();
  let sessionId: string | undefined;
  let protocolVersion: string | undefined;

  const sessionHeaders = () => ({
    ...(sessionId !== undefined && { "mcp-session-id": sessionId }),
    ...(protocolVersion !== undefined && { "mcp-protocol-version": protocolVersion }),
  });

  async function post(message: JSONRPCMessage, signal: AbortSignal): Promise<HttpAnswer> {
    try {
      return await request({
        agent,
        method: "POST",
        url,
        headers: {
          ...sessionHeaders(),
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify(message),
        signal,
      });
    } catch (error) {
      if (error instanceof McpFailure && error.status === 404 && sessionId !== undefined) {
        throw new McpFailure("sessionLost", "the server no longer knows the session", { status: 404, cause: error });
      }
      throw error;
    }
  }

  async function receive(answer: HttpAnswer, id: RequestId, growth: Growth): Promise<JSONRPCMessage> {
    if (answer.contentType === "text/event-stream") {
      // Leaving the loop ends the connection: what comes after the answer is not waited for.
      for await (const { data } of readEvents(answer.body, maxAnswerBytes, growth)) {
        const found = data === "" ? undefined : answerIn(readJson(data), id);
        if (found !== undefined) return found;
      }
    } else if (answer.contentType === "application/json") {
      const found = answerIn(readJson(await readText(answer.body, maxAnswerBytes, growth)), id);
      if (found !== undefined) return found;
    } else {
      answer.body.destroy();
      throw new McpFailure("malformed", `the server answered ${answer.contentType || "without a content type"}`);
    }
    throw new McpFailure("malformed", "the server's answer has no answer to this request");
  }

  const transport: GuardedTransport = {
    async start() {},

    async send(message) {
      const id = requestIdOf(message);
      if (id === undefined) {
        const answer = await post(message, AbortSignal.any([closing.signal, AbortSignal.timeout(COURTESY_MS)]));
        await discard(answer.body);
        return;
      }
      const exchange = currentExchange.getStore();
      const signal = exchange ? AbortSignal.any([closing.signal, exchange.signal]) : closing.signal;
      const answer = await post(message, signal);
      const given = one(answer.headers["mcp-session-id"]);
      if (SESSION_ID.test(given)) sessionId ??= given;
      const growth = createGrowth(answer.body, large, signal);
      try {
        transport.onmessage?.(await receive(answer, id, growth));
      } finally {
        growth.end();
      }
    },

    isOver: () => closing.signal.aborted,

    async close() {
      closing.abort();
      await everybodyHeard();
      if (sessionId !== undefined) {
        const headers = sessionHeaders();
        sessionId = undefined;
        // Out of politeness: servers forget sessions by themselves.
        await request({ agent, method: "DELETE", url, headers, signal: AbortSignal.timeout(COURTESY_MS) }).then(
          ({ body }) => discard(body),
          () => undefined,
        );
      }
      transport.onclose?.();
    },

    setProtocolVersion(version) {
      protocolVersion = version;
    },
  };
  return transport;
}
