import { afterEach, describe, expect, it } from "vitest";
import { startServer } from "../mcp/testing/startServer.ts";
import { createSettlementClient } from "./createSettlementClient.ts";

const PAYER = "0x0000000000000000000000000000000000000001";
// As many as it has connections.
const READERS = 64;

describe("the daemon's client", () => {
  const closing: (() => Promise<unknown> | unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  it("reaches the daemon though dozens do not read the receipts that they have asked for", async () => {
    const server = await startServer((request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      if (request.url?.includes("receipts")) response.write("x".repeat(8_000_000));
      else response.end(JSON.stringify({ batches: 1, settledUsd: "1", developerShareUsd: "0.9" }));
    });
    closing.push(server.close);
    const client = createSettlementClient({ url: server.url, token: "token", helpUrl: null });
    const asked = Array.from({ length: READERS }, () => client.receiptsOf(PAYER, "0x01"));
    for (const one of asked) one.catch(() => undefined);
    const first = await Promise.race(asked);
    expect(await client.earnings("tool")).toMatchObject({ batches: 1 });
    first.destroy();
  });
});
