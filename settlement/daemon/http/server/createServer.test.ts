import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { createServer } from "./createServer.ts";

// Longer than any machine takes for what is not meant to hang.
const GENEROUS_MS = 60_000;

let close = async () => {};
afterEach(() => close());

async function serve(answerTimeoutMs: number) {
  const server = createServer({ log: pino({ level: "silent" }), observeRequest: () => {}, answerTimeoutMs });
  const { promise: never, resolve: release } = Promise.withResolvers<object>();
  for (const method of ["GET", "POST"] as const) {
    server.app.route({ method, url: "/hangs", handler: () => never });
    server.app.route({ method, url: "/things/:name", handler: async () => ({ done: true }) });
  }
  server.app.get("/slow-to-let-in", { onRequest: async () => void (await never) }, async () => ({ done: true }));
  const url = await server.app.listen({ host: "127.0.0.1", port: 0 });
  close = async () => {
    release({});
    await server.close();
  };
  return url;
}

describe("whatever the request is, a handler that hangs is answered for in time", () => {
  it.each([
    ["a read", "/hangs", {}],
    ["a gate that hangs", "/slow-to-let-in", {}],
    ["a write without a body", "/hangs", { method: "POST" }],
    ["a write with a body", "/hangs", { method: "POST", body: "{}", headers: { "content-type": "application/json" } }],
  ])("%s", async (_, path, request) => {
    const url = await serve(50);
    const response = await fetch(`${url}${path}`, request);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await response.json()).toEqual({ code: "unavailable", error: "This took too long; try again later." });
  });
});

it("a route that Fastify would judge by a schema of its own is refused at the start", async () => {
  const { app } = createServer({ log: pino({ level: "silent" }), observeRequest: () => {} });
  app.post("/things", { schema: { body: { type: "object" } } }, async () => ({ done: true }));
  await expect(app.ready()).rejects.toThrow("describe it with zod");
});

describe("a body that cannot be read as it was meant is refused", () => {
  const NOT_JSON = "The body is not valid JSON, or has a member named __proto__ or constructor.prototype.";
  it.each([
    ["bytes that are no UTF-8", Buffer.from([0x22, 0xff, 0xfe, 0x22]), {}, 400, "The body is not valid UTF-8."],
    ["half of a character", Buffer.from('"\u00e9"').subarray(0, 2), {}, 400, "The body is not valid UTF-8."],
    ["what is no JSON", "{", {}, 400, NOT_JSON],
    ["a member that would be another object's", '{"a":{"__proto__":{}}}', {}, 400, NOT_JSON],
    ["compression", gzipSync("{}"), { "content-encoding": "gzip" }, 415, "The body must be sent without compression."],
    [
      "what says that it is compressed",
      "{}",
      { "content-encoding": "br" },
      415,
      "The body must be sent without compression.",
    ],
  ])("%s", async (_, body, headers, status, error) => {
    const url = await serve(GENEROUS_MS);
    const response = await fetch(`${url}/things/a`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
    });
    expect([response.status, await response.json()]).toMatchObject([status, { error }]);
  });

  it("but nothing at all, a mark of its order, and any writing are not", async () => {
    const url = await serve(GENEROUS_MS);
    for (const body of ["", "\ufeff{}", '{"a":"é 天 👩‍💻"}']) {
      const headers = { "content-type": "application/json", "content-encoding": "identity" };
      expect((await fetch(`${url}/things/a`, { method: "POST", body, headers })).status, body).toBe(200);
    }
  });
});

describe("what Node and Fastify would answer in their own form has the form of every answer", () => {
  it.each([
    ["no Host", "GET /things/a HTTP/1.1\r\nconnection: close\r\n\r\n", 400, "invalid_request", "header Host"],
    [
      "an expectation",
      "GET /things/a HTTP/1.1\r\nhost: a\r\nexpect: miracles\r\nconnection: close\r\n\r\n",
      417,
      "expectation_failed",
      "header Expect",
    ],
    ["a tunnel", "CONNECT example.org:443 HTTP/1.1\r\nhost: a\r\n\r\n", 404, "not_found", "not a proxy"],
    [
      "an address that cannot be decoded",
      "GET /things/%zz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
      400,
      "invalid_request",
      "not a valid URL",
    ],
    [
      "too long a part of an address",
      `GET /things/${"a".repeat(300)} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
      404,
      "not_found",
      "too long",
    ],
    [
      "another method",
      "PROPFIND /things/a HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
      404,
      "not_found",
      "there is no PROPFIND /things/a",
    ],
    ["no HTTP", "nonsense\r\n\r\n", 400, "invalid_request", "not a valid HTTP request"],
    [
      "too long a header",
      `GET /things/a HTTP/1.1\r\nhost: a\r\nx-long: ${"x".repeat(20_000)}\r\n\r\n`,
      431,
      "headers_too_large",
      "headers are too large",
    ],
  ])("%s", async (_, text, status, code, sentence) => {
    const answer = await raw(await serve(GENEROUS_MS), text);
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z][A-Za-z ]+\r\n`));
    for (const line of ["cache-control: no-store", "x-content-type-options: nosniff"]) expect(head).toContain(line);
    expect(head).toMatch(/^content-type: application\/json; charset=utf-8\r?$/m);
    const parsed = JSON.parse(body.slice(body.indexOf("{"), body.lastIndexOf("}") + 1)) as { error: string };
    expect(parsed).toEqual({ code, error: expect.any(String) });
    expect(parsed.error.toLowerCase()).toContain(sentence.toLowerCase());
  });

  it("HTTP/1.0 knows no Host and needs none", async () => {
    const answer = await raw(await serve(GENEROUS_MS), "GET /things/a HTTP/1.0\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

function raw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
  });
}
