import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { untilGone } from "../api/untilGone.ts";
import { type AskRoute, createFront } from "./createFront.ts";

export type FrontOptions = {
  version: string;
  // Lets a request in or throws: without a key everybody may look, and a wrong key is told so before anything else.
  admit: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
};

export const FRONT_PATH = "/api/mcp";

// Streamable HTTP without sessions: who asks is said by the key of each request, and nothing is kept between two.
export function registerFront(app: FastifyInstance, { version, admit }: FrontOptions): void {
  app.route({
    method: "POST",
    url: FRONT_PATH,
    onRequest: async (request, reply) => void (await admit(request, reply)),
    handler: async (request, reply) => {
      const server = createFront(askAs(app, request), version);
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      await server.connect(transport as Transport);
      try {
        const { method, headers, body } = request;
        const asked = new Request(`http://localhost${FRONT_PATH}`, { method, headers: textsOf(headers) });
        const answer = await untilGone(request, () => transport.handleRequest(asked, { parsedBody: body }));
        return reply
          .code(answer.status)
          .headers(Object.fromEntries(answer.headers))
          .send(await answer.text());
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
      reply.code(405).header("allow", "POST").send({ error: "send MCP messages by POST" }),
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
