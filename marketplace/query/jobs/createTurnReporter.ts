import type { FastifyBaseLogger } from "fastify";
import type { Clock } from "../../../settlement/clock.ts";
import { ApiError } from "../../../settlement/daemon/http/errors.ts";
import type { Store } from "../../database/openStore.ts";
import type { RecordTurn, SettlementClient, VoidTurn } from "../../settlement/createSettlementClient.ts";
import { countTurns, delayTurn, listDueTurns, settleTurn } from "./jobs.ts";

// What the daemon must hear of a question that has ended: what is owed for it, or that nothing is.
export type TurnReport = RecordTurn | VoidTurn;

export type TurnReporter = {
  // Tells the daemon of a turn that has ended, and is on disk as such. If the daemon is away it is told later.
  tell(turn: TurnReport): Promise<void>;
  // Tells what is due. Returns how many are left.
  tellDue(): Promise<number>;
};

// After a turn was put on disk it is first told by whoever did, for this long at the most.
export const FIRST_WAIT_MS = 40_000;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
const MAX_DOUBLINGS = 5;
const DUE_AT_A_TIME = 100;

// A turn's id is its attempt's, and the daemon records an id once: telling it twice is telling it once.
export function createTurnReporter(options: {
  store: Store;
  clock: Clock;
  settlement: Pick<SettlementClient, "recordTurn" | "voidTurn">;
  log: FastifyBaseLogger;
}): TurnReporter {
  const { store, clock, settlement, log } = options;

  async function attempt(turn: TurnReport): Promise<"told" | "away" | "refused"> {
    try {
      if (turn.outcome === "voided") await settlement.voidTurn(turn);
      else await settlement.recordTurn(turn);
    } catch (error) {
      const isAway = error instanceof ApiError && error.code === "unavailable";
      // Its payer owes so much that this waits until some of it is settled.
      const isOnCredit = error instanceof ApiError && error.code === "credit_exceeded";
      log[isAway || isOnCredit ? "warn" : "error"](
        { err: error, turn: turn.turnId },
        "the daemon is told of a turn later",
      );
      return isAway ? "away" : "refused";
    }
    await store.shared((sql) => settleTurn(sql, turn.turnId));
    return "told";
  }

  const later = (id: string, attempts: number) => {
    const waitMs = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** Math.min(attempts, MAX_DOUBLINGS));
    return store.shared((sql) => delayTurn(sql, id, clock.nowMs() + waitMs));
  };

  return {
    async tell(turn) {
      if ((await attempt(turn)) !== "told") await later(turn.turnId, 0);
    },
    async tellDue() {
      for (const { id, turn, attempts } of await listDueTurns(store.read, clock.nowMs(), DUE_AT_A_TIME)) {
        const outcome = await attempt(turn);
        if (outcome !== "told") await later(id, attempts);
        // The daemon is away: the others would wait in vain too.
        if (outcome === "away") break;
      }
      return countTurns(store.read);
    },
  };
}
