import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Hex } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import { createAskReceipts } from "./askReceipts.ts";

const hash = (digit: number | string): Hex => `0x${String(digit).padStart(64, "0")}`;

describe("a marketplace that is asked for receipts", () => {
  const servers: ReturnType<typeof createServer>[] = [];

  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });

  async function ask(listener: Parameters<typeof createServer>[1]) {
    const server = createServer(listener as never);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return createAskReceipts({ url: `http://127.0.0.1:${port}`, apiKey: "sk_live_x", timeoutMs: 100 });
  }

  it("and hangs, or drips, is not waited for", async () => {
    let asked = 0;
    const hanging = await ask((_: unknown, response: { write(text: string): void }) => {
      asked += 1;
      if (asked > 1) response.write("[");
    });
    for (const number of [1, 2, 3]) {
      expect(await hanging(hash(number))).toEqual({
        kind: "silent",
        reason: "it has not answered within 0.1 seconds",
      });
    }
    // Two tries for each of three batches, as far as they arrived in time, and then no more in this look.
    expect(asked).toBeLessThanOrEqual(6);
    const before = asked;
    expect(await hanging(hash(4))).toMatchObject({
      kind: "silent",
      reason: expect.stringContaining("not asked again"),
    });
    expect(asked).toBe(before);
  });

  it("and has none is told apart from one that says nothing", async () => {
    const without = await ask((_: unknown, response: { writeHead(status: number): { end(): void } }) =>
      response.writeHead(404).end(),
    );
    expect(await without(hash(1))).toEqual({ kind: "none" });
  });
});
