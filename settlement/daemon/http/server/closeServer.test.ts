import { connect } from "node:net";
import Fastify from "fastify";
import { expect, it } from "vitest";
import { createCloseServer } from "./closeServer.ts";

// Nothing ends here because time has passed, unless a test says so: what does not end by itself never does.
async function serve(maxWaitMs = Number.POSITIVE_INFINITY) {
  const app = Fastify({ http: { headersTimeout: 0, requestTimeout: 0 } });
  const close = createCloseServer(app, maxWaitMs);
  let begun = () => {};
  let finish = () => {};
  const running = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  app.get("/slow", async () => {
    begun();
    await gate;
    return { done: true };
  });
  app.get("/events", (_request, reply) => {
    reply.hijack();
    reply.raw.setHeader("content-type", "text/event-stream");
    reply.raw.write("data: 1\n\n");
    begun();
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return { url, close, running, finish };
}

it("a request that runs is finished, and a connection without one does not hold up the end", async () => {
  const { url, close, running, finish } = await serve();
  const { hostname, port } = new URL(url);
  const idle = connect(Number(port), hostname);
  await new Promise((resolve) => idle.once("connect", resolve));
  const cutOff = new Promise((resolve) => idle.once("close", resolve));
  idle.on("error", () => undefined);
  const answer = fetch(`${url}/slow`);
  await running;

  let closed = false;
  const closing = close().then(() => {
    closed = true;
  });
  await expect(fetch(`${url}/slow`)).rejects.toThrow();
  expect(closed).toBe(false);
  finish();
  expect(await (await answer).json()).toEqual({ done: true });
  await Promise.all([closing, cutOff]);
});

it("a stream of events, and a request that does not end, are cut off", async () => {
  const stream = await serve();
  const events = await fetch(`${stream.url}/events`);
  await stream.running;
  await stream.close();
  await expect(events.text()).rejects.toThrow();

  const stuck = await serve(50);
  const answer = fetch(`${stuck.url}/slow`);
  answer.catch(() => undefined);
  await stuck.running;
  await stuck.close();
  await expect(answer).rejects.toThrow();
});
