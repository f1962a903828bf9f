import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPostgresLedger, type Store } from "../../testing/backends.ts";
import { countBursts } from "../../testing/countBursts.ts";
import { ALICE, accountOf, turnOf, usdc } from "../../testing/fixtures.ts";

describe("turns on PostgreSQL", () => {
  let store: Store;
  beforeEach(async () => {
    store = await createPostgresLedger();
  });
  afterEach(() => store.remove());

  it("of a group are two trips to the database, whoever pays", async () => {
    const ledger = await store.open();
    await ledger.recordTurn(turnOf("known", { payer: ALICE }), 0);
    for (const payers of [[ALICE], [ALICE, accountOf(77)]]) {
      const asked = countBursts();
      const turns = payers.map((payer, i) => turnOf(`${payers.length} ${i}`, { payer }));
      const outcomes = await ledger.recordTurns(
        turns.map((turn) => ({ turn })),
        0,
      );
      expect(outcomes.map(({ kind }) => kind)).toEqual(payers.map(() => "recorded"));
      expect(asked()).toBe(2);
    }
    expect(await ledger.audit()).toEqual([]);
  });

  it("of a payer whose row is gone are recorded with a new one", async () => {
    const ledger = await store.open();
    await ledger.recordTurn(turnOf("first", { outcome: "failed", modelCost: usdc(0) }), 0);
    const database = store.database();
    await database.transaction(async (sql) => sql.send("DELETE FROM payers"), { repeatable: true });
    await database.close();
    expect(await ledger.recordTurn(turnOf("second"), 0)).toMatchObject({ kind: "recorded" });
    expect(await ledger.audit()).toEqual([]);
  });
});
