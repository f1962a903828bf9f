import { randomUUID } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, it } from "vitest";
import { backends } from "../../settlement/ledger/testing/backends.ts";
import { openMarketplace, register, standing } from "./openMarketplace.ts";
import { startTool } from "./startTool.ts";

const newWallet = () => privateKeyToAccount(generatePrivateKey());

it.each(backends)("nobody offers a server that somebody else offers already, on $name", async ({ create }) => {
  const database = await create();
  const market = await openMarketplace(database);
  const server = await startTool();
  try {
    const offer = (owner: ReturnType<typeof newWallet>, toolId: string) => {
      market.onChain.set(toolId, standing(owner.address));
      const described = { toolId, endpoint: server.url, name: "Gas", description: "Gas prices" };
      return register(market.ask, owner, described);
    };
    const [owner, thief, theirs] = [newWallet(), newWallet(), randomUUID()];
    expect((await offer(owner, theirs)).body).toMatchObject({ listed: true });
    const refused = await offer(thief, randomUUID());
    expect(refused).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(refused.body.error).toContain(`as tool ${theirs}; if the server is yours, serve it at another address`);
    // The owner changes what is said of it, and whoever left it makes room.
    expect((await offer(owner, theirs)).body).toMatchObject({ listed: true });
    await market.store.alone((sql) => sql.run("UPDATE listings SET status = 'delisted' WHERE tool_id = $1", [theirs]));
    expect((await offer(thief, randomUUID())).body).toMatchObject({ listed: true });
  } finally {
    await server.close();
    await market.close();
    await database.remove();
  }
});
