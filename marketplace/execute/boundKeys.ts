import { LRUCache } from "lru-cache";
import type { Address } from "viem";
import type { Clock } from "../../settlement/clock.ts";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import type { Store } from "../database/openStore.ts";
import { addFreeKeys, CLAIM_MS, countFreeKeys, isKeyKnown, readFreeKeys } from "./executions.ts";

// A key is kept for weeks, and one whose call cost nothing was had for nothing. So many of those an account may use in a day. Accounts
// are had for nothing too, so all keys together have a bound as well, above which those have to leave the key out who never paid.
export type KeyBound = {
  // Throws if the account may use no other key now. One that it has used before is answered as ever.
  admit(account: Address, key: string): Promise<void>;
  // A key is on disk, and its call has cost nothing yet.
  claimed(): void;
  // It was given back, or its call was charged after all.
  released(): void;
  // A call under a key of the account's has ended, and was not charged.
  used(account: Address): void;
  // Writes down how many there are, and hears how many other processes have.
  write(): Promise<void>;
};

const DAY_MS = 24 * 60 * 60 * 1_000;
const MAX_ACCOUNTS = 10_000;
// How often what other processes have counted is read, as a part of the bound.
const PARTS = 4;
// Whoever has used all is looked at again after so long.
const LOOK_AGAIN_MS = 60_000;

type Counted = { day: number; used: number; sinceRead: number; readAtMs: number };

// Counted here and not with each claim in the database: it is read once for every quarter of the bound, so that several processes let
// through a quarter more each.
export function createKeyBound(options: {
  store: Store;
  clock: Clock;
  maxPerDay: number;
  maxTotal: number;
  // Whether an account was ever charged.
  isPayer: (account: Address) => Promise<boolean>;
}): KeyBound {
  const { store, clock, maxPerDay, maxTotal, isPayer } = options;
  // As it was written last, and what has come since. What a crash leaves uncounted are the keys of a few seconds.
  let [total, since] = [0, 0];
  const counted = new LRUCache<Address, Counted>({ max: MAX_ACCOUNTS });

  async function usedToday(account: Address): Promise<number> {
    const nowMs = clock.nowMs();
    const day = Math.floor(nowMs / DAY_MS);
    const known = counted.get(account);
    const isFresh =
      known !== undefined &&
      known.day === day &&
      known.sinceRead < maxPerDay / PARTS &&
      (known.used < maxPerDay || nowMs < known.readAtMs + LOOK_AGAIN_MS);
    if (isFresh) return known.used;
    const used = await countFreeKeys(store.read, account, day * DAY_MS + CLAIM_MS, maxPerDay);
    counted.set(account, { day, used, sinceRead: 0, readAtMs: nowMs });
    return used;
  }

  return {
    async admit(account, key) {
      if (total + since >= maxTotal && !(await isPayer(account)) && !(await isKeyKnown(store.read, account, key))) {
        throw new ApiError(
          "rate_limited",
          "all the room for Idempotency-Keys of accounts that never paid is taken; leave the key out, or buy a call first",
          { retryAfterMs: LOOK_AGAIN_MS },
        );
      }
      if ((await usedToday(account)) < maxPerDay) return;
      if (await isKeyKnown(store.read, account, key)) return;
      throw new ApiError(
        "rate_limited",
        `this account has used ${maxPerDay} Idempotency-Keys today for calls that cost nothing; leave the key out, or wait until ` +
          "midnight UTC",
        { retryAfterMs: DAY_MS - (clock.nowMs() % DAY_MS) },
      );
    },
    claimed() {
      since += 1;
    },
    released() {
      since -= 1;
    },
    async write() {
      const written = since;
      total = written === 0 ? await readFreeKeys(store.read) : await store.alone((sql) => addFreeKeys(sql, written));
      since -= written;
    },
    used(account) {
      const known = counted.get(account);
      if (known === undefined) return;
      known.used += 1;
      known.sinceRead += 1;
    },
  };
}
