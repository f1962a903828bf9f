import { addAbortSignal, Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { untilGone } from "../api/untilGone.ts";
import { deliveringFor } from "../delivery/boundDeliveries.ts";
import { type AskRoute, createFront } from "./createFront.ts";

export type FrontOptions = {
  version: string;
  // Lets a request in or throws: without a key everybody may look, and a wrong key is told so before anything else.
  admit: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
};

export const FRONT_PATH = "/api/mcp";

// As long as the longest of the routes behind it, each of which has a bound of its own.
const ANSWER_MS = 1_900_000;

// Whoever asks for progress is answered by events, of which the last is the answer. Everybody else is answered by JSON.
const progressAsked = z.looseObject({
  method: z.literal("tools/call"),
  params: z.looseObject({ _meta: z.looseObject({ progressToken: z.union([z.string(), z.number()]) }) }),
});
const wantsProgress = (body: unknown) => progressAsked.safeParse(body).success;

// Of one list. Each is let in by itself.
const MAX_MESSAGES = 100;

const listed = z.array(z.looseObject({ id: z.unknown() }));
// Of two requests under one id both would be done, and paid, and one would be answered.
function hasIdTwice(body: unknown): boolean {
  const ids = (listed.safeParse(body).data ?? []).flatMap(({ id }) => id ?? []);
  return new Set(ids).size < ids.length;
}

// Streamable HTTP without sessions: who asks is said by the key of each request, and nothing is kept between two.
export function registerFront(app: FastifyInstance, { version, admit }: FrontOptions): void {
  app.route({
    method: "POST",
    url: FRONT_PATH,
    onRequest: async (request, reply) => void (await admit(request, reply)),
    config: { answerTimeoutMs: ANSWER_MS },
    handler: async (request, reply) => {
      // A list of messages is as many requests as it has messages, of which one was let in already.
      const messages = Array.isArray(request.body) ? request.body.length : 1;
      if (messages > MAX_MESSAGES) {
        const error = `A list has at most ${MAX_MESSAGES} messages; send the others in another.`;
        return reply.code(400).send({ error, code: "invalid_request" });
      }
      // All at once: a list waits for its turn no longer than a message does.
      await Promise.all(Array.from({ length: messages - 1 }, () => admit(request, reply)));
      if (hasIdTwice(request.body)) {
        const error = "Two messages of a list have the same id; give each its own.";
        return reply.code(400).send({ error, code: "invalid_request" });
      }
      const server = createFront(askAs(app, request), version);
      const isStreamed = wantsProgress(request.body);
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !isStreamed });
      await server.connect(transport as Transport);
      // A call that takes minutes says nothing on its connection meanwhile.
      request.raw.socket.setTimeout?.(ANSWER_MS);
      try {
        const { method, headers, body } = request;
        const asked = new Request(`http://localhost${FRONT_PATH}`, { method, headers: textsOf(headers) });
        return await untilGone(request, async (gone) => {
          const answer = await deliveringFor(request, () => transport.handleRequest(asked, { parsedBody: body }));
          reply.code(answer.status).headers(Object.fromEntries(answer.headers));
          if (!isStreamed || answer.body === null) return reply.send(await answer.text());
          const events = addAbortSignal(gone, Readable.fromWeb(answer.body as ReadableStream));
          reply.header("x-accel-buffering", "no").send(events);
          // Whoever leaves has said so to whatever runs; there is nobody to tell that the stream broke off.
          await finished(events).catch(() => undefined);
          return reply;
        });
      } finally {
        await server.close();
      }
    },
  });
  // There is nothing to listen to and no session to end.
  app.route({
    method: ["GET", "DELETE"],
    url: FRONT_PATH,
    handler: async (_request, reply) =>
      reply.code(405).header("allow", "POST").send({ error: "Send MCP messages by POST.", code: "invalid_request" }),
  });
}

const textsOf = (headers: FastifyRequest["headers"]): Record<string, string> =>
  Object.fromEntries(
    ["accept", "content-type", "mcp-protocol-version"].flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );

// The same process answers, without a socket in between.
function askAs(app: FastifyInstance, request: FastifyRequest): AskRoute {
  const { authorization } = request.headers;
  return async ({ method, path, headers = {}, body }) => {
    const answer = await app.inject({
      method,
      url: path,
      remoteAddress: request.ip,
      headers: { ...headers, ...(authorization !== undefined && { authorization }) },
      ...(body !== undefined && { payload: body as object }),
    });
    return { status: answer.statusCode, text: answer.payload };
  };
}
