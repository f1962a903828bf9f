import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import Fastify from "fastify";
import { exportJWK, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ContextRequest } from "./checkRequest.ts";
import { createVerifier } from "./createVerifier.ts";
import { isOpenMcpMethod, isProtectedMcpMethod } from "./methods.ts";
import { createContextHook, createContextMiddleware, withContext } from "./middleware.ts";
import { TOOL_ID_HEADER } from "./toolIdHeader.ts";
import { verifyContextRequest } from "./verifyContextRequest.ts";

const issuer = "https://market.example";
const audience = "https://tools.example.com/mcp";
const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 });
const publicKey = keys.publicKey.export({ type: "spki", format: "pem" }).toString();
const options = { audience, issuer, publicKey };
const toolId = "0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b";
const named = { ...options, toolId };

const nowSeconds = () => Math.floor(Date.now() / 1_000);
const claims = (changes: JWTPayload = {}) => ({
  ...{ iss: issuer, aud: audience, toolId, iat: nowSeconds(), exp: nowSeconds() + 120 },
  ...changes,
});
const sign = (payload: JWTPayload, key: KeyObject = keys.privateKey, kid?: string) =>
  new SignJWT(payload).setProtectedHeader({ alg: "RS256", ...(kid && { kid }) }).sign(key);

const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "quote" } };
const seen = ({ context, auth, body }: ContextRequest) => ({ context, auth: auth?.extra, body });

type Host = { name: string; start(): Promise<{ url: string; close(): Promise<unknown> }> };

const listening = async (server: Server) => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, close: () => new Promise((resolve) => server.close(resolve)) };
};

const hosts: Host[] = [
  {
    name: "Express",
    start: () => {
      const app = createMcpExpressApp();
      app.all("/mcp", createContextMiddleware(named), (request: ContextRequest, response: ServerResponse) =>
        response.end(JSON.stringify(seen(request))),
      );
      return listening(createServer(app));
    },
  },
  {
    name: "Fastify",
    start: async () => {
      const app = Fastify();
      const preHandler = createContextHook(named);
      app.route({
        method: ["GET", "POST"],
        url: "/mcp",
        preHandler,
        handler: async (request) => seen(request as ContextRequest),
      });
      return { url: `${await app.listen({ port: 0, host: "127.0.0.1" })}/mcp`, close: () => app.close() };
    },
  },
  {
    name: "Node's http",
    start: () =>
      listening(createServer(withContext(named, (request, response) => response.end(JSON.stringify(seen(request)))))),
  },
];

describe.each(hosts)("the middleware for $name", ({ start }) => {
  let server: Awaited<ReturnType<Host["start"]>>;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());

  async function post(body: unknown, authorization?: string) {
    const response = await fetch(server.url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(authorization && { authorization }) },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  const refused = { status: 401, body: { error: "Unauthorized" } };

  it("says as which tool it is sold, to those too whom it refuses", async () => {
    for (const method of ["tools/list", "tools/call"]) {
      const { headers } = await fetch(server.url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...call, method }),
      });
      expect(headers.get(TOOL_ID_HEADER)).toBe(toolId);
    }
  });

  it("lets everybody look", async () => {
    for (const method of ["initialize", "tools/list", "ping", "something/else"]) {
      expect(await post({ ...call, method })).toMatchObject({ status: 200, body: { body: { method } } });
    }
    expect((await fetch(server.url)).status).toBe(200);
  });

  it("lets the marketplace call, and tells the tool who asks", async () => {
    const token = await sign(claims({ sub: "a payer" }));
    const { status, body } = await post(call, `Bearer ${token}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ context: { toolId, sub: "a payer" }, auth: { toolId }, body: call });
  });

  it("refuses a call without a token, alone as in a batch", async () => {
    expect(await post(call)).toEqual(refused);
    expect(await post([call])).toEqual(refused);
    expect(await post([{ ...call, method: "ping" }, call])).toEqual(refused);
    const token = await sign(claims());
    expect((await post([call], `Bearer ${token}`)).status).toBe(200);
  });

  it("refuses whatever is no token of this marketplace for this tool, now", async () => {
    const bad: [string, Promise<string> | string][] = [
      ["another audience", sign(claims({ aud: `${audience}/` }))],
      ["another issuer", sign(claims({ iss: "https://ctxprotocol.com" }))],
      ["another key", sign(claims(), stranger.privateKey)],
      ["expired", sign(claims({ exp: nowSeconds() - 60 }))],
      ["without an end", sign({ iss: issuer, aud: audience, toolId, iat: nowSeconds() })],
      ["without a tool", sign({ iss: issuer, aud: audience, iat: nowSeconds(), exp: nowSeconds() + 9 })],
      ["unsigned", new UnsecuredJWT(claims()).encode()],
      [
        "the public key as a password",
        new SignJWT(claims()).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(publicKey)),
      ],
      ["nonsense", "nonsense"],
    ];
    for (const [why, token] of bad) expect(await post(call, `Bearer ${await token}`), why).toEqual(refused);
    expect(await post(call, `bearer ${await sign(claims())}`)).toEqual(refused);
  });

  it("lets nothing pass that it cannot read", async () => {
    const response = await fetch(server.url, {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: JSON.stringify(call),
    });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect((await fetch(server.url, { method: "POST", body: "{" })).status).toBeGreaterThanOrEqual(400);
  });
});

describe("a body that a parser has left to others", () => {
  // Whoever handles the call reads what is left of the request, as the MCP SDK does.
  const handled = async (request: IncomingMessage & ContextRequest, response: ServerResponse) => {
    let rest = "";
    for await (const chunk of request) rest += chunk;
    response.end(JSON.stringify({ handled: request.body, rest }));
  };
  const parsers: [string, (listen: typeof listening) => ReturnType<typeof listening>][] = [
    [
      "as an empty object, like Express 4",
      (listen) => {
        const check = createContextMiddleware(options);
        return listen(
          createServer((request: IncomingMessage & ContextRequest, response) => {
            request.body = {};
            void check(request, response, () => void handled(request, response));
          }),
        );
      },
    ],
    [
      "as nothing, like Fastify with a parser that hands the stream on",
      async () => {
        const app = Fastify();
        app.removeAllContentTypeParsers();
        app.addContentTypeParser("*", (_request, _payload, done) => done(null));
        app.post("/mcp", { preHandler: createContextHook(options) }, (request, reply) => {
          reply.hijack();
          return handled(request.raw, reply.raw);
        });
        return { url: `${await app.listen({ port: 0, host: "127.0.0.1" })}/mcp`, close: () => app.close() };
      },
    ],
  ];

  it.each(parsers)("%s, is read before anything passes", async (_, start) => {
    const server = await start(listening);
    try {
      const post = async (authorization?: string, body: string = JSON.stringify(call)) => {
        const headers = { "content-type": "text/plain; application/json", ...(authorization && { authorization }) };
        const response = await fetch(server.url, { method: "POST", headers, body });
        return { status: response.status, body: await response.json() };
      };
      expect(await post()).toEqual({ status: 401, body: { error: "Unauthorized" } });
      const paid = await post(`Bearer ${await sign(claims())}`);
      expect(paid).toEqual({ status: 200, body: { handled: call, rest: "" } });
      expect((await post(undefined, "")).status).toBe(200);
    } finally {
      await server.close();
    }
  });
});

it("a tool that knows its id answers no call that was sold as somebody else's tool", async () => {
  const verify = createVerifier({ ...options, toolId: "0190A1B2-c3d4-8e5f-9a6b-7c8d9e0f1a2b" });
  const show = async (changes: JWTPayload) => verify(`Bearer ${await sign(claims(changes))}`);
  await expect(show({ toolId: "0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b" })).resolves.toBeDefined();
  await expect(show({ toolId: "smoke-test", purpose: "smoke-test" })).resolves.toBeDefined();
  await expect(show({ toolId: "1190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b" })).rejects.toThrow("Invalid");
  await expect(show({ toolId: "smoke-test" })).rejects.toThrow("Invalid");
});

describe("one header, without a middleware", () => {
  it("is verified under the SDK's name, and what is no token for this tool is thrown as it throws it", async () => {
    const ask = async (authorizationHeader: string | undefined) =>
      verifyContextRequest({ ...named, authorizationHeader });
    expect(await ask(`Bearer ${await sign(claims({ sub: "a payer" }))}`)).toMatchObject({ toolId, sub: "a payer" });
    const unauthorized = { code: "unauthorized", statusCode: 401 };
    await expect(ask(undefined)).rejects.toMatchObject({
      ...unauthorized,
      message: "Missing or invalid Authorization header",
    });
    for (const token of [sign(claims({ aud: `${audience}/` })), sign(claims(), stranger.privateKey), "nonsense"]) {
      await expect(ask(`Bearer ${await token}`)).rejects.toMatchObject({
        ...unauthorized,
        message: "Invalid Context Protocol signature",
      });
    }
  });

  it("is verified with keys that were fetched once, after whoever made up options before", async () => {
    let fetches = 0;
    const published = [{ ...(await exportJWK(keys.publicKey)), kid: "current", alg: "RS256" }];
    const jwks = await listening(
      createServer((_request, response) => {
        fetches++;
        response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: published }));
      }),
    );
    try {
      const authorizationHeader = `Bearer ${await sign(claims(), keys.privateKey, "current")}`;
      const options = { issuer, jwksUrl: jwks.url, authorizationHeader };
      for (let i = 0; i < 200; i += 1) {
        const madeUp = verifyContextRequest({
          ...options,
          audience: `${audience}/${i}`,
          authorizationHeader: undefined,
        });
        await expect(madeUp).rejects.toThrow("Missing");
      }
      for (let i = 0; i < 3; i += 1) await verifyContextRequest({ ...options, audience });
      expect(fetches).toBe(1);
    } finally {
      await jwks.close();
    }
  });
});

describe("keys from the marketplace", () => {
  it("are fetched once, the next one with the current, and no stranger's key makes a tool fetch again", async () => {
    const published = [
      { ...(await exportJWK(keys.publicKey)), kid: "current", alg: "RS256" },
      { ...(await exportJWK(stranger.publicKey)), kid: "next", alg: "RS256" },
    ];
    let fetches = 0;
    const jwks = await listening(
      createServer((_request, response) => {
        fetches++;
        response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: published }));
      }),
    );
    const listener = withContext({ audience, issuer, jwksUrl: jwks.url }, (_request, response) => response.end("{}"));
    const tool = await listening(createServer(listener));
    const statusWith = async (token: string) =>
      (
        await fetch(tool.url, {
          method: "POST",
          headers: { authorization: `Bearer ${token}` },
          body: JSON.stringify(call),
        })
      ).status;
    try {
      expect(await statusWith(await sign(claims(), keys.privateKey, "current"))).toBe(200);
      expect(await statusWith(await sign(claims(), stranger.privateKey, "next"))).toBe(200);
      expect(await statusWith(await sign(claims(), stranger.privateKey, "current"))).toBe(401);
      expect(await statusWith(await sign(claims(), stranger.privateKey, "unheard of"))).toBe(401);
      expect(fetches).toBe(1);
    } finally {
      await Promise.all([tool.close(), jwks.close()]);
    }
  });
});

it("the two sets of methods are those of the SDK", () => {
  const methods = [
    "tools/call",
    "initialize",
    "tools/list",
    "resources/list",
    "prompts/list",
    "ping",
    "notifications/initialized",
  ];
  expect(methods.filter(isProtectedMcpMethod)).toEqual(["tools/call"]);
  expect(methods.filter(isOpenMcpMethod)).toEqual(methods.slice(1));
});
