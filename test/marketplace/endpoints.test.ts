import { randomUUID } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backends, type Store } from "../../settlement/ledger/testing/backends.ts";
import { makeKey, openMarketplace, register, standing } from "./openMarketplace.ts";
import { startTool, type ToolServer } from "./startTool.ts";

const newWallet = () => privateKeyToAccount(generatePrivateKey());
type Wallet = ReturnType<typeof newWallet>;
const DAY_MS = 86_400_000;

describe.each(backends)("whose server it is, on $name", ({ create }) => {
  let database: Store;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  beforeAll(async () => {
    database = await create();
    market = await openMarketplace(database);
  });
  afterAll(async () => {
    await market.close();
    await database.remove();
  });

  const offer = (owner: Wallet, toolId: string, endpoint: string) => {
    market.onChain.set(toolId, standing(owner.address));
    return register(market.ask, owner, { toolId, endpoint, name: "Gas", description: "Gas prices" });
  };
  const statusOf = async (owner: Wallet, toolId: string) =>
    (await market.ask("GET", `/api/v1/tools/${toolId}/status`, undefined, await makeKey(market.ask, owner))).body;
  const using = async (work: (server: ToolServer) => Promise<void>) => {
    const server = await startTool();
    try {
      await work(server);
    } finally {
      await server.close();
    }
  };
  const conflict = { status: 409, body: { code: "conflict" } };

  it("nobody offers a server that somebody else offers already, however its address is written", () =>
    using(async (server) => {
      const [owner, thief, theirs] = [newWallet(), newWallet(), randomUUID()];
      expect((await offer(owner, theirs, server.url)).body).toMatchObject({ listed: true });
      const calls = server.state.calls;
      const { port, pathname } = new URL(server.url);
      for (const address of [
        server.url,
        `http://127.1:${port}${pathname}`,
        `${server.url}/`,
        `${server.url}?tool=2`,
        `${server.url}//`,
      ]) {
        const refused = await offer(thief, randomUUID(), address);
        expect(refused, address).toMatchObject(conflict);
        expect(refused.body.error).toContain(
          `as tool ${theirs}; if the server is yours, name your tool's id as toolId`,
        );
      }
      // What a stranger wants to list is not called for nothing.
      expect(server.state.calls).toBe(calls);
      // The owner changes what is said of it, and whoever left it, or has nothing at stake any more, makes room.
      expect((await offer(owner, theirs, server.url)).body).toMatchObject({ listed: true });
      market.onChain.set(theirs, standing(owner.address, { stake: 1n }));
      await market.registry.readStandings([...market.catalogue.all()]);
      expect((await offer(thief, randomUUID(), server.url)).body).toMatchObject({ listed: true });
    }));

  it("of two who list a server at once one does", () =>
    using(async (server) => {
      let arrived = 0;
      const both = Promise.withResolvers<void>();
      server.tool.list = () => {
        arrived += 1;
        if (arrived === 2) both.resolve();
        return both.promise;
      };
      const offers = await Promise.all(
        [newWallet(), newWallet()].map((owner) => offer(owner, randomUUID(), server.url)),
      );
      expect(offers.map(({ status }) => status).sort()).toEqual([200, 409]);
    }));

  it("whoever was first sells it no longer once the server says whose it is", () =>
    using(async (server) => {
      const [thief, owner, theirs, own] = [newWallet(), newWallet(), randomUUID(), randomUUID()];
      const first = await offer(thief, theirs, server.url);
      expect(first.body).toMatchObject({
        listed: true,
        warnings: [expect.stringMatching(/whoever lists its address first/)],
      });
      expect(await offer(owner, own, server.url)).toMatchObject(conflict);
      server.state.toolIds = [own.toUpperCase(), randomUUID()];
      const listed = await offer(owner, own, server.url);
      expect(listed.body).toMatchObject({
        listed: true,
        warnings: [],
        checks: expect.arrayContaining([{ check: "identity", ok: true, say: "The server says that it is this tool." }]),
      });
      const gone = { offered: false, reason: "Its server says that it is another tool." };
      expect(await statusOf(thief, theirs)).toMatchObject(gone);
      expect(market.catalogue.search({ limit: 50 }).map(({ listing }) => listing.toolId)).not.toContain(theirs);
      // It does not come back, by itself or by its owner, not even while the server says nothing for once.
      await market.pingAfter(DAY_MS);
      expect(await statusOf(thief, theirs)).toMatchObject(gone);
      server.state.down = true;
      for (let days = 1; days <= 4; days += 1) await market.pingAfter(DAY_MS);
      Object.assign(server.state, { down: false, toolIds: null });
      await market.pingAfter(DAY_MS);
      expect(await statusOf(thief, theirs)).toMatchObject(gone);
      server.state.toolIds = [own];
      await market.pingAfter(DAY_MS);
      expect(await statusOf(owner, own)).toMatchObject({ offered: true });
      const again = await offer(thief, theirs, server.url);
      expect(again.body).toMatchObject({
        listed: false,
        checks: [
          { check: "stake" },
          { check: "identity", ok: false, say: expect.stringMatching(/that it is another tool/) },
        ],
      });
    }));

  it("a tool beside it at the same server is asked before it is delisted, and stays if it says which tool it is", () =>
    using(async (server) => {
      const [neighbour, theirs, owner, own] = [newWallet(), randomUUID(), newWallet(), randomUUID()];
      const [left, right] = [`${server.url}?tenant=left`, `${server.url}?tenant=right`];
      server.state.toolIds = (path) => [path.endsWith("left") ? theirs : own];
      expect((await offer(neighbour, theirs, left)).body).toMatchObject({ listed: true });
      expect((await offer(owner, own, right)).body).toMatchObject({ listed: true });
      expect(await statusOf(neighbour, theirs)).toMatchObject({ offered: true });
      await market.pingAfter(60_000);
      expect(await statusOf(neighbour, theirs)).toMatchObject({ offered: true, failuresInARow: 0 });
      // One that is somebody else's after all goes with that ping, and not only at the end of the day.
      server.state.toolIds = [own];
      expect((await offer(owner, own, right)).body).toMatchObject({ listed: true });
      await market.pingAfter(60_000);
      expect(await statusOf(neighbour, theirs)).toMatchObject({ offered: false });
      expect(await statusOf(owner, own)).toMatchObject({ offered: true });
    }));

  it("a ping that is answered in another tool's name delists at once, and the next in its own lists again", () =>
    using(async (server) => {
      const [owner, toolId] = [newWallet(), randomUUID()];
      await offer(owner, toolId, server.url);
      server.state.toolIds = [randomUUID()];
      await market.pingAfter(DAY_MS);
      expect(await statusOf(owner, toolId)).toMatchObject({ offered: false, failuresInARow: 1 });
      server.state.toolIds = [toolId];
      await market.pingAfter(DAY_MS);
      expect(await statusOf(owner, toolId)).toMatchObject({ offered: true, reason: null });
    }));
});
