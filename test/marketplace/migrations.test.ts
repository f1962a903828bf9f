import { expect, it } from "vitest";
import { openAccount } from "../../marketplace/accounts/openAccount.ts";
import { createStore } from "../../marketplace/database/openStore.ts";
import { forgetAbandoned } from "../../marketplace/registry/listings.ts";
import { migrate, migrationsOf } from "../../settlement/ledger/database/migrate.ts";
import { backends } from "../../settlement/ledger/testing/backends.ts";

const MIGRATIONS = new URL("../../marketplace/database/migrations/", import.meta.url);
const LISTING = {
  ...{ name: "Gas", description: "Gas prices", category: null, default_execute_usd: null },
  ...{ execute_prices: "{}", suggested_prompts: "[]", methods: "[]", warnings: "[]", refreshed_at: 1 },
  ...{ price: 0, required_stake: 10, status: "active", status_reason: null, verified: 0, pings: 1, pings_answered: 1 },
  ...{ failures_in_a_row: 0, next_ping_at: 1_000, calls: 0, calls_succeeded: 0, registered_at: 1, updated_at: 1 },
};

it.each(backends)("what was there before is as it was, and is counted, on $name", async ({ create }) => {
  const location = await create();
  const before = location.database();
  await migrate(before, migrationsOf(MIGRATIONS).slice(0, 17));
  const wallets = [1, 2, 3].map((i) => `0x${`${i}`.repeat(40)}`);
  await before.transaction(
    async (sql) => {
      for (const [i, wallet] of wallets.entries()) {
        await sql.run("INSERT INTO accounts (wallet, favorites_only, created_at, has_paid) VALUES ($1, 0, 1, $2)", [
          wallet,
          Number(i === 0),
        ]);
      }
      for (const [i, stake] of [10, 9].entries()) {
        const endpoint = `https://tools.example/MCP/${i}`;
        const row = {
          ...LISTING,
          tool_id: `tool ${i}`,
          endpoint,
          server: endpoint,
          owner: wallets[i],
          stake,
          revision: i,
        };
        const columns = Object.keys(row);
        await sql.run(
          `INSERT INTO listings (${columns.join(", ")}) VALUES (${columns.map((_, i) => `$${i + 1}`).join(", ")})`,
          Object.values(row) as (string | number | null)[],
        );
      }
    },
    { repeatable: false },
  );
  await before.close();

  const store = await createStore(location.database());
  const enter = (wallet: string, most: number) =>
    store.alone((sql) => openAccount(sql, wallet as `0x${string}`, most, 1));
  expect([await enter("0xnew", 2), await enter(wallets[2] ?? "", 2), await enter("0xnew", 3)]).toEqual([
    false,
    true,
    true,
  ]);
  expect(await store.read.all("SELECT tool_id, server FROM listings ORDER BY tool_id")).toEqual(
    [0, 1].map((i) => ({ tool_id: `tool ${i}`, server: `https://tools.example/mcp/${i}` })),
  );
  const forget = (beforeMs: number) => store.alone((sql) => forgetAbandoned(sql, beforeMs, 10));
  expect([await forget(1_000), await forget(1_001)]).toEqual([0, 1]);
  expect(await store.read.all("SELECT tool_id FROM listings")).toEqual([{ tool_id: "tool 0" }]);
  await store.close();
  await location.remove();
});
