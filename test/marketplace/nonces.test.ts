import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgetNonces, insertNonce } from "../../marketplace/accounts/nonces.ts";
import { createSignIn, SIGN_IN } from "../../marketplace/accounts/signIn.ts";
import { createStore, type Store } from "../../marketplace/database/openStore.ts";
import { backends, type Store as DatabaseStore } from "../../settlement/ledger/testing/backends.ts";

const WALLET = "0x00000000000000000000000000000000000000a1";

describe.each(backends)("what strangers are given to sign, on $name", ({ create }) => {
  let database: DatabaseStore;
  let store: Store;
  beforeAll(async () => {
    database = await create();
    store = await createStore(database.database());
  });
  afterAll(async () => {
    await store.close();
    await database.remove();
  });
  const kept = async () =>
    (await store.read.all("SELECT nonce FROM nonces ORDER BY expires_at")).map(({ nonce }) => nonce);

  it("is forgotten once it is too old, and of too many the oldest", async () => {
    for (let i = 1; i <= 9; i += 1) await store.alone((sql) => insertNonce(sql, `nonce ${i}`, i * 1_000));
    await store.alone((sql) => forgetNonces(sql, 2_000));
    expect(await kept()).toEqual([3, 4, 5, 6, 7, 8, 9].map((i) => `nonce ${i}`));
    await store.alone((sql) => forgetNonces(sql, 2_000, 4));
    expect(await kept()).toEqual([6, 7, 8, 9].map((i) => `nonce ${i}`));
    await store.alone((sql) => forgetNonces(sql, 9_000));
  });

  it("shares its commits, and is looked through once in hundreds, so that a crowd that signs nothing slows nobody", async () => {
    let alone = 0;
    const counting: Store = {
      ...store,
      alone(work) {
        alone += 1;
        return store.alone(work);
      },
    };
    const publicUrl = "https://market.example";
    const verifyContract = async () => false;
    const clock = { nowMs: () => 10_000 };
    const signIn = createSignIn({ store: counting, clock, publicUrl, chainId: 1, verifyContract });
    await Promise.all(Array.from({ length: 500 }, () => signIn.challenge(WALLET, SIGN_IN)));
    expect(await kept()).toHaveLength(500);
    expect(alone).toBeLessThanOrEqual(2);
  });
});
