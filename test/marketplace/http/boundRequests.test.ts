import { type AddressInfo, connect } from "node:net";
import fastify from "fastify";
import { afterEach, expect, it } from "vitest";
import { boundRequests } from "../../../marketplace/delivery/boundRequests.ts";
import { until } from "../../../scripts/waiting/until.ts";

const app = fastify();
afterEach(() => app.close());

it("whoever hangs up while the request is admitted leaves nothing that is held", async () => {
  const admitted = Promise.withResolvers<void>();
  let [arrived, gone, ended] = [0, 0, 0];
  app.addHook("onRequest", async (request) => {
    arrived += 1;
    request.raw.once("close", () => {
      gone += 1;
    });
    await admitted.promise;
  });
  const bounds = { maxBytes: 1_000_000, maxBytesOfReader: 200_000, maxBodyBytes: 100_000 };
  const { unanswered } = boundRequests(app, bounds, () => "reader");
  app.addHook("onError", async () => {
    ended += 1;
  });
  app.post("/", async () => "done");
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  socket.write(
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
  );
  await until("the request to arrive", () => arrived === 1);
  socket.resetAndDestroy();
  await until("it to be known that nobody is there", () => gone === 1);
  admitted.resolve();
  await until("the request to have ended", () => ended === 1);
  expect(unanswered()).toBe(0);
});
