import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Address } from "viem";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import { type MicroUsdc, parseUsd } from "../../settlement/domain/money.ts";
import { uuidFromDigest } from "../../settlement/domain/text/uuid.ts";
import type { SessionView } from "../../settlement/views/session.ts";
import type { SettlementClient } from "../settlement/createSettlementClient.ts";
import type { SignedBudget } from "../settlement/signedBudget.ts";

export type Sessions = {
  start(
    account: Address,
    session: { id: string; maxSpendUsd: string; signed: SignedBudget | null },
  ): Promise<SessionView>;
  // Null if the account has none of that id.
  find(account: Address, id: string): Promise<SessionView | null>;
  get(account: Address, id: string): Promise<SessionView>;
  close(account: Address, id: string): Promise<SessionView>;
  // Of what is known of a session here, the newest: answers that are ready at the same time overtake each other, and no buyer should
  // see a session that has spent less than before, or is open again.
  newest(session: SessionView): SessionView;
  // The budget of an account's own session, which never changes.
  budgetOf(account: Address, id: string): Promise<MicroUsdc>;
};

// Of each. There is not room for all of them from the start, which would take as long as opening the store.
const MAX_KNOWN = 50_000;
const remember = <T extends {}>() => new LRUCache<string, T>({ maxSize: MAX_KNOWN, sizeCalculation: () => 1 });

// An account's Execute sessions, which the daemon keeps. Somebody else's is as good as none: not even that it exists is shown.
export function createSessions(settlement: SettlementClient, ttlMs: number): Sessions {
  const known = remember<{ payer: Address; maxSpend: MicroUsdc }>();
  const shown = remember<SessionView>();

  async function find(account: Address, id: string): Promise<SessionView | null> {
    const found = await settlement.findSession(id);
    if (found === null || found.payer !== account) return null;
    known.set(id, { payer: found.payer, maxSpend: parseUsd(found.session.maxSpend) });
    return found.session;
  }

  async function get(account: Address, id: string): Promise<SessionView> {
    const session = await find(account, id);
    if (session === null) throw notFound();
    return session;
  }

  return {
    find,
    get,
    async start(account, { id, maxSpendUsd, signed }) {
      const session = await settlement.openSession({ sessionId: id, payer: account, maxSpendUsd, ttlMs, signed });
      known.set(id, { payer: account, maxSpend: parseUsd(session.maxSpend) });
      return session;
    },
    async close(account, id) {
      await get(account, id);
      return settlement.closeSession(id);
    },
    newest(session) {
      const last = shown.get(session.sessionId);
      if (last !== undefined && isOlder(session, last)) return last;
      shown.set(session.sessionId, session);
      return session;
    },
    async budgetOf(account, id) {
      const own = known.get(id);
      if (own === undefined) return parseUsd((await get(account, id)).maxSpend);
      if (own.payer !== account) throw notFound();
      return own.maxSpend;
    },
  };
}

function isOlder(one: SessionView, other: SessionView): boolean {
  const [spent, before] = [parseUsd(one.spent), parseUsd(other.spent)];
  return spent < before || (spent === before && one.status === "open" && other.status !== "open");
}

const notFound = () => new ApiError("session_not_found", "there is no such session");

// The same request again is about the same session.
export const sessionIdOf = (account: Address, key: string) =>
  uuidFromDigest(hash("sha256", JSON.stringify(["session", account, key])));

// The session that a call with a budget opens under its key.
export const inlineSessionIdOf = (account: Address, key: string) =>
  uuidFromDigest(hash("sha256", JSON.stringify(["call's session", account, key])));
