import type { IncomingMessage, ServerResponse } from "node:http";
import { type Check, type ContextRequest, checkRequest } from "./checkRequest.ts";
import { createVerifier, type VerifierOptions } from "./createVerifier.ts";
import { nameTool } from "./toolIdHeader.ts";

type Refused = Extract<Check, { kind: "refused" }>;

// For Express, and whatever has its form: `app.post("/mcp", createContextMiddleware({ audience }), handler)`.
export function createContextMiddleware(options: VerifierOptions) {
  const verify = createVerifier(options);
  return async (
    request: IncomingMessage & ContextRequest,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ): Promise<void> => {
    try {
      nameTool(response, options.toolId);
      const check = await checkRequest(request, verify);
      if (check.kind === "refused") refuse(response, check);
      else next();
    } catch (error) {
      next(error);
    }
  };
}

type FastifyRequestLike = { raw: IncomingMessage & ContextRequest; body: unknown };
type FastifyReplyLike = {
  // For a handler that takes the answer over, Fastify's own headers are lost.
  raw: ServerResponse;
  code(status: number): { send(body: unknown): unknown };
};

// For Fastify: `app.post("/mcp", { preHandler: createContextHook({ audience }) }, handler)`.
export function createContextHook(options: VerifierOptions) {
  const verify = createVerifier(options);
  return async (request: FastifyRequestLike, reply: FastifyReplyLike): Promise<unknown> => {
    nameTool(reply.raw, options.toolId);
    // Fastify has read the body, and what it could not parse it has refused; an empty one is null here.
    request.raw.body = request.body ?? null;
    const check = await checkRequest(request.raw, verify, [request.raw, request as ContextRequest]);
    return check.kind === "refused" ? reply.code(check.status).send({ error: check.error }) : undefined;
  };
}

export type ContextListener = (request: IncomingMessage & ContextRequest, response: ServerResponse) => unknown;

// For Node's own server: `createServer(withContext({ audience }, listener))`. The listener finds the body parsed.
export function withContext(options: VerifierOptions, listener: ContextListener) {
  const verify = createVerifier(options);
  return async (request: IncomingMessage & ContextRequest, response: ServerResponse): Promise<void> => {
    try {
      nameTool(response, options.toolId);
      const check = await checkRequest(request, verify);
      if (check.kind === "refused") refuse(response, check);
      else await listener(request, response);
    } catch {
      // Nobody else is there to answer.
      if (response.headersSent) response.destroy();
      else refuse(response, { status: 500, error: "Internal Server Error" });
    }
  };
}

function refuse(response: ServerResponse, { status, error }: Pick<Refused, "error"> & { status: number }): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}
