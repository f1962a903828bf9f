import type { FastifyBaseLogger } from "fastify";
import { SettlementError } from "../../domain/errors.ts";
import { formatUsd, microUsdc } from "../../domain/money.ts";
import type { EngineEvent } from "../../engine/context.ts";
import { timeOf } from "../../views/shapes.ts";
import type { Alerts } from "./alerts.ts";

// Each event under the ids by which a charge can be followed: its batch and its transaction. What is sent has the id of its
// submission, which is the id of the batch where it settles one.
export function reportEvent(event: EngineEvent, log: FastifyBaseLogger, alerts: Alerts): void {
  switch (event.kind) {
    case "planned":
      log.info({ event: event.kind, batchId: event.batchId, operator: event.operator }, "batch planned");
      return;
    case "sent":
      log.info(
        { event: event.kind, submission: event.id, tx: event.txHash, outcome: event.outcome },
        "transaction sent",
      );
      return;
    case "replaced":
      log.info(
        { event: event.kind, submission: event.id, maxFeePerGas: `${event.maxFeePerGas}` },
        "transaction replaced",
      );
      return;
    case "included":
      log.info(
        { event: event.kind, submission: event.id, tx: event.txHash, gasUsed: `${event.gasUsed}` },
        "transaction included",
      );
      return;
    case "lost":
    case "final":
    case "abandoned":
      log.info({ event: event.kind, submission: event.id }, `transaction ${event.kind}`);
      return;
    case "answer_dropped":
      log.info({ event: event.kind, submission: event.id, reason: event.reason }, "the court would not take an answer");
      return;
    case "contest_ended":
      if (event.ended === "lapsed") {
        alerts.raise(
          event.kind,
          `${contested(event)} was not answered in time, and is given back from the bond`,
          nameOf(event),
        );
      } else {
        log.info(
          { event: event.kind, batchId: event.batchId, payer: event.account, ended: event.ended },
          "a contest has ended",
        );
      }
      return;
    case "contested":
      alerts.raise(
        event.kind,
        `${contested(event)} is contested, and answered until ${timeOf(event.untilMs)}`,
        nameOf(event),
      );
      return;
    case "contest_unanswerable":
      alerts.raise(
        event.kind,
        `critical: ${contested(event)} cannot be answered: ${event.reason}; without an answer until ${timeOf(event.untilMs)} it is given back from the bond`,
        nameOf(event),
      );
      return;
    case "admitting":
      log.info({ event: event.kind }, "new turns and calls are taken again");
      return;
    case "holding":
      // Another reason is another alert; the same reason with another fee is not.
      alerts.raise(
        event.kind,
        `operator ${event.operator} holds: ${event.reason}`,
        `${event.operator} ${event.reason.replace(/\d+/g, "")}`,
      );
      return;
    case "row_set_aside":
      alerts.raise(event.kind, `the charges of ${event.payer} are set aside: ${event.reason}`, event.payer);
      return;
    case "above_limit":
      alerts.raise(
        event.kind,
        `charge ${event.chargeId} of ${formatUsd(event.amount)} USDC is above the whole limit of operator ${event.operator}, ${formatUsd(event.limit)}`,
        event.chargeId,
      );
      return;
    case "key_used_elsewhere":
      alerts.raise(
        event.kind,
        `the key of operator ${event.operator} was used elsewhere at nonce ${event.nonce}`,
        event.operator,
      );
      return;
    case "usdc_upgraded":
      alerts.raise(event.kind, `the code behind USDC was ${event.from} and is now ${event.to}`, event.to);
      return;
    case "ledger_moved":
      alerts.raise(
        event.kind,
        `the ledger was at ${event.from} and is now at ${event.to}: it was restored or failed over`,
      );
      return;
    case "endpoint_stale":
    case "endpoint_contradicts":
      alerts.raise(event.kind, `${event.endpoint} ${event.reason}`, event.endpoint);
      return;
    case "overloaded":
      alerts.raise(event.kind, `new turns and calls are refused, because settlement does not keep up: ${event.reason}`);
      return;
    case "halted":
    case "chain_unavailable":
    case "ledger_unavailable":
    case "signer_unavailable":
      alerts.raise(event.kind, event.reason);
  }
}

type Contested = Extract<EngineEvent, { kind: "contested" }>;

const contested = ({ account, batchId, operator, charged }: Omit<Contested, "kind">) =>
  `what operator ${operator} has charged ${account} in batch ${batchId}, ${formatUsd(microUsdc(charged))} USDC,`;
const nameOf = ({ batchId, account }: Omit<Contested, "kind">) => `${batchId} ${account}`;

// What a whole tick can fail for without a fault of its own.
const OUTAGES: readonly string[] = ["ledger_unavailable", "chain_unavailable", "signer_unavailable"];

// A tick that threw. If something that it needs is away, that is what to look at, by the name that it has everywhere.
export function reportFailedTick(error: unknown, alerts: Alerts): void {
  const kind = error instanceof SettlementError && OUTAGES.includes(error.code) ? error.code : "tick_failed";
  alerts.raise(kind, error instanceof Error ? error.message : String(error));
}
