import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createAlerts } from "./alerts.ts";

const SECRET = "the webhook's secret";
let server: Server;
let received: { signature: string; body: string }[];
let statuses: number[];
let url: string;
let lines: string[];
let nowMs: number;

beforeEach(async () => {
  received = [];
  statuses = [];
  lines = [];
  nowMs = 1_000;
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      received.push({ signature: String(request.headers["settlement-signature"]), body });
      response.writeHead(statuses.shift() ?? 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const alertsOf = (options: { webhook?: boolean; maxQueue?: number } = {}) =>
  createAlerts({
    log: pino({}, { write: (line) => void lines.push(line) }),
    clock: { nowMs: () => nowMs },
    webhook: options.webhook === false ? null : { url, secret: SECRET },
    quietMs: 100,
    firstRetryMs: 1,
    ...(options.maxQueue !== undefined && { maxQueue: options.maxQueue }),
  });

it("an alert is a line of the log and a message that only the holder of the secret can have signed", async () => {
  const alerts = alertsOf();
  alerts.raise("halted", "batch 0x1 differs");
  await alerts.settled();
  expect(lines[0]).toContain('"alert":"halted"');
  const [{ signature, body } = { signature: "", body: "" }] = received;
  expect(JSON.parse(body)).toEqual({ kind: "halted", message: "Batch 0x1 differs.", at: "1970-01-01T00:00:01.000Z" });
  expect(signature).toBe(`t=1000,v1=${createHmac("sha256", SECRET).update(`1000.${body}`).digest("hex")}`);
});

it("an alert of one kind about one operator is quiet for a while, whatever fee it names, and then raised again", async () => {
  const alerts = alertsOf({ webhook: false });
  for (const atMs of [0, 50, 99, 100, 150]) {
    nowMs = atMs;
    alerts.raise("holding", `the fee is ${atMs}`, "operator 1");
  }
  alerts.raise("holding", "the fee is 150", "operator 2");
  alerts.raise("halted", "the fee is 150", "operator 1");
  expect(lines).toHaveLength(4);
});

it("a webhook that fails is tried again, and one that never takes it is given up with a line", async () => {
  const alerts = alertsOf();
  statuses = [500, 503];
  alerts.raise("one", "first");
  await alerts.settled();
  expect(received).toHaveLength(3);
  statuses = Array.from({ length: 10 }, () => 500);
  alerts.raise("two", "second");
  await alerts.settled();
  expect(lines.at(-1)).toContain("alert_undelivered");
  expect(lines.join("")).not.toContain(SECRET);
});

it("what waits is bounded, and the newest stay", async () => {
  const alerts = alertsOf({ maxQueue: 2 });
  for (let n = 0; n < 6; n++) alerts.raise("many", `number ${n}`, `operator ${n}`);
  await alerts.settled();
  // The first was on its way before the queue was full.
  expect(received.map(({ body }) => JSON.parse(body).message)).toEqual(["Number 0.", "Number 4.", "Number 5."]);
});
