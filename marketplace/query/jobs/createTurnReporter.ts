import type { FastifyBaseLogger } from "fastify";
import type { Clock } from "../../../settlement/clock.ts";
import { ApiError } from "../../../settlement/daemon/http/errors.ts";
import type { Store } from "../../database/openStore.ts";
import type { RecordTurn, SettlementClient, VoidTurn } from "../../settlement/createSettlementClient.ts";
import { DUE_AT_A_TIME, retryDelayMs } from "../../settlement/reportAgain.ts";
import { countTurns, delayTurn, listDueTurns, replaceTurn, settleTurn } from "./jobs.ts";

// What the daemon must hear of a question that has ended: what is owed for it, or that nothing is.
export type TurnReport = RecordTurn | VoidTurn;

export type TurnReporter = {
  // Tells the daemon of a turn that has ended, and is on disk as such. If the daemon is away it is told later.
  tell(turn: TurnReport): Promise<void>;
  // Tells what is due. Returns how many are left.
  tellDue(): Promise<number>;
};

// A turn's id is its attempt's, and the daemon records an id once: telling it twice is telling it once.
export function createTurnReporter(options: {
  store: Store;
  clock: Clock;
  settlement: Pick<SettlementClient, "recordTurn" | "voidTurn">;
  log: FastifyBaseLogger;
}): TurnReporter {
  const { store, clock, settlement, log } = options;

  async function attempt(turn: TurnReport, isLast = false): Promise<"told" | "away" | "refused"> {
    try {
      if (turn.outcome === "voided") await settlement.voidTurn(turn);
      else await settlement.recordTurn(turn);
    } catch (error) {
      const cheaper = turn.outcome === "voided" || isLast ? null : withinListed(turn, error);
      if (cheaper !== null) {
        log.warn({ err: error, turn: turn.turnId }, "the daemon is told of a turn at the prices that count by now");
        // Kept first, so that it is the same turn whenever it is told again.
        await store.shared((sql) => replaceTurn(sql, cheaper));
        return attempt(cheaper, true);
      }
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
    const dueMs = clock.nowMs() + retryDelayMs(attempts);
    return store.shared((sql) => delayTurn(sql, id, dueMs));
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

// A turn with no more for each tool than the daemon says it is listed for; null if that is not what it was refused for. A price was lowered
// since the question began: its owner gets less for it, and everybody else what the question cost.
function withinListed(turn: RecordTurn, error: unknown): RecordTurn | null {
  if (!(error instanceof ApiError) || error.code !== "price_exceeded") return null;
  const listed = new Map(error.body.listed?.map(({ toolId, atMostUsd }) => [toolId, atMostUsd]));
  return {
    ...turn,
    tools: turn.tools.map((tool) => ({ ...tool, amountUsd: listed.get(tool.toolId) ?? tool.amountUsd })),
  };
}
