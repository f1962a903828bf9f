import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ledger } from "../ledger.ts";
import { ledgers, type Store } from "../testing/backends.ts";
import { ALICE, inclusionAt, leaseOf, OPERATOR, outcomeOf, planned, submitted, turnOf } from "../testing/fixtures.ts";

describe.each(ledgers)("a key that is given up, on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
  });
  afterEach(async () => {
    expect(await ledger.audit()).toEqual([]);
    await store.remove();
  });

  it("has its charges due again, and nobody is fenced off for it once that is lifted", async () => {
    const lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("a"), 1);
    const sent = await submitted(ledger, lease, [ALICE], 2);
    await ledger.recordTurn(turnOf("b"), 3);
    const unsent = await planned(ledger, lease, [ALICE], 4);
    await ledger.fenceOff();
    const renewed = await leaseOf(ledger);
    expect(await ledger.retire(renewed, 5)).toBe(2);
    for (const id of [sent, unsent?.id ?? "0x"]) {
      expect((await ledger.findSubmission(id))?.state.kind).toBe("abandoned");
    }
    expect(await ledger.listOperators()).toMatchObject([{ fence: -1, retired: true }]);
    await ledger.liftFence(renewed);
    expect(await ledger.listOperators()).toMatchObject([{ fence: 0, retired: true }]);
    expect(await ledger.listDuePayers(5, 10)).toMatchObject([{ chargedTo: ALICE, charges: 4, oldestDueAtMs: 5 }]);
  });

  it("is nobody's again, but for the person who looks after what it has left", async () => {
    const lease = await leaseOf(ledger);
    await ledger.liftFence(lease);
    await ledger.retire(lease, 1);
    await ledger.releaseLease(lease);
    expect(await ledger.acquireLease(OPERATOR, "daemon", 1_000)).toBeNull();
    const person = await ledger.acquireLease(OPERATOR, "person", 1_000, true);
    expect(person).not.toBeNull();
    if (person !== null) expect(await ledger.retire(person, 2)).toBe(0);
    await ledger.fenceOff();
    expect(await ledger.listOperators()).toMatchObject([{ fence: 0, retired: true }]);
  });

  it("is not given up while something of it is mined and not final", async () => {
    const lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("a"), 1);
    const batchId = await submitted(ledger, lease, [ALICE], 2);
    await ledger.recordInclusion(lease, batchId, inclusionAt(1n), "success", outcomeOf());
    await expect(ledger.retire(lease, 3)).rejects.toMatchObject({ code: "invalid_input" });
    expect((await ledger.findSubmission(batchId))?.state.kind).toBe("included");
    expect(await ledger.listOperators()).toMatchObject([{ retired: false }]);
  });
});
