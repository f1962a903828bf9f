import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../../scripts/waiting/until.ts";
import { createLedger } from "../../../settlement/ledger/createLedger.ts";
import { openPostgres } from "../../../settlement/ledger/database/postgres/openPostgres.ts";
import type { Database } from "../../../settlement/ledger/database/sql.ts";
import type { Ledger } from "../../../settlement/ledger/ledger.ts";
import { createPostgresStore, type Store } from "../../../settlement/ledger/testing/backends.ts";
import { turnOf } from "../../../settlement/ledger/testing/fixtures.ts";
import { startTcpProxy, type TcpProxy } from "../../faults/proxies/tcpProxy.ts";

describe("a network between ledger and PostgreSQL", () => {
  let store: Store;
  let proxy: TcpProxy;
  let database: Database;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await createPostgresStore();
    const address = new URL(store.location);
    proxy = await startTcpProxy({ host: address.hostname, port: Number(address.port) });
    address.port = `${proxy.port}`;
    database = openPostgres({ url: address.href });
    ledger = await createLedger(database);
  });
  afterEach(async () => {
    await proxy.stop();
    await ledger.close();
    await store.remove();
  });

  it("that swallows everything is noticed, and what was on its way is done once when it is over", async () => {
    await ledger.recordTurn(turnOf("before"), 0);
    proxy.swallow(true);
    const answer = ledger.recordTurn(turnOf("silent"), 0).catch((error: unknown) => error);
    await until("the silent connection is given up", async () => proxy.givenUp() > 0);
    proxy.swallow(false);
    // It may have been given up before the network was back.
    if ((await answer) instanceof Error) await ledger.recordTurn(turnOf("silent"), 0);
    expect(await ledger.readTotals()).toMatchObject({ accrued: 240_000n });
    expect(await ledger.audit()).toEqual([]);
  });

  it("that goes on swallowing is reported as a ledger that is unavailable", async () => {
    proxy.swallow(true);
    await expect(ledger.recordTurn(turnOf("t"), 0)).rejects.toMatchObject({
      code: "ledger_unavailable",
      retryable: true,
    });
  });

  it("is not blamed for a statement that waits for a lock", async () => {
    await ledger.recordTurn(turnOf("t"), 0);
    const { promise: isDone, resolve: finish } = Promise.withResolvers<void>();
    const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>();
    const lock = "SELECT payer FROM payers FOR UPDATE";
    const first = database.transaction(
      async (sql) => {
        await sql.all(lock);
        locked();
        await isDone;
      },
      { repeatable: false },
    );
    await isLocked;
    const before = proxy.connections();
    const second = database.transaction(async (sql) => sql.all(lock), { repeatable: false });
    // The second one's own, and the one that asks about it.
    await until("the server was asked about the late answer", async () => proxy.connections() >= before + 2);
    finish();
    await first;
    expect(await second).toHaveLength(1);
  });
});
