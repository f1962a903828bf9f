import type { FastifyBaseLogger } from "fastify";
import { LRUCache } from "lru-cache";

export type Quota = {
  // So much more is kept for an account.
  kept(account: string, bytes: number): void;
  // Resolves when nothing is being evicted any more.
  idle(): Promise<void>;
};

const MAX_ACCOUNTS = 10_000;
// How much is kept above the quota before somebody looks, as a part of it.
const SLACK = 4;

// Bounds what is kept for one account. Counting all of it with every answer would cost more than the answer, so an account is
// looked at once for every quarter of its quota, behind its caller's back. A process that forgets what it has counted, or
// several that count for themselves, keep a quarter more each.
export function createQuota(options: {
  // The quota of everybody; with `maxBytesOf`, the least that anybody has.
  maxBytes: number;
  maxBytesOf?: (account: string) => Promise<number>;
  // Forgets the oldest of an account's until no more than so much is left.
  evict: (account: string, maxBytes: number) => Promise<number>;
  log: FastifyBaseLogger;
  observeEvicted?: (evicted: number) => void;
}): Quota {
  const { maxBytes: least, evict, log, observeEvicted } = options;
  const counted = new LRUCache<string, { bytes: number; maxBytes: number }>({ max: MAX_ACCOUNTS });
  const evicting = new Map<string, Promise<void>>();

  async function look(account: string): Promise<void> {
    try {
      const maxBytes = (await options.maxBytesOf?.(account)) ?? least;
      const own = counted.get(account);
      if (own !== undefined) own.maxBytes = maxBytes;
      const evicted = await evict(account, maxBytes);
      if (evicted === 0) return;
      observeEvicted?.(evicted);
      log.info({ event: "answers_evicted", account, evicted }, "the oldest answers were forgotten");
    } catch (error) {
      log.warn({ err: error, account }, "answers above the quota are forgotten later");
    } finally {
      evicting.delete(account);
    }
  }

  return {
    kept(account, bytes) {
      const own = counted.get(account) ?? { bytes: 0, maxBytes: least };
      own.bytes += bytes;
      counted.set(account, own);
      if (own.bytes < own.maxBytes / SLACK || evicting.has(account)) return;
      own.bytes = 0;
      evicting.set(account, look(account));
    },
    async idle() {
      await Promise.all(evicting.values());
    },
  };
}
