import { pino } from "pino";
import type { Address } from "viem";
import { expect, it } from "vitest";
import { SettlementError } from "../../domain/errors.ts";
import { microUsdc } from "../../domain/money.ts";
import type { EngineEvent } from "../../engine/context.ts";
import { createAlerts } from "./alerts.ts";
import { reportEvent, reportFailedTick } from "./reportEvent.ts";

const accountOf = (n: number): Address => `0x${`${n}`.repeat(40)}`;

const contest = {
  batchId: "0x02",
  account: accountOf(1),
  operator: accountOf(2),
  charged: 1_500_000n,
  untilMs: 5_000,
} as const;
const charged = (n: number, what = "What") =>
  `${what} operator ${accountOf(2)} has charged ${accountOf(n)} in batch 0x02, 1.50 USDC,`;
const LOST = "without an answer until 1970-01-01T00:00:05.000Z it is given back from the bond";

it("what asks for a person is told once for each operator and reason, payer or token, and not once for each fee", () => {
  const lines: string[] = [];
  const log = pino({ level: "warn" }, { write: (line) => void lines.push(line) });
  const alerts = createAlerts({ log, clock: { nowMs: () => 1 }, webhook: null });
  const events: EngineEvent[] = [
    ...[1, 2, 3].map((fee) => ({ kind: "holding", operator: accountOf(1), reason: `fees of ${fee}` }) as const),
    { kind: "holding", operator: accountOf(2), reason: "fees of 4" },
    { kind: "holding", operator: accountOf(2), reason: "the router is paused" },
    { kind: "row_set_aside", payer: accountOf(3), reason: "it breaks its batch" },
    { kind: "row_set_aside", payer: accountOf(4), reason: "it breaks its batch" },
    { kind: "usdc_upgraded", from: accountOf(5), to: accountOf(6) },
    { kind: "usdc_upgraded", from: accountOf(6), to: accountOf(7) },
    { kind: "endpoint_stale", endpoint: "endpoint 1", reason: "is at block 1, 60 s behind the others" },
    { kind: "endpoint_stale", endpoint: "endpoint 1", reason: "is at block 1, 61 s behind the others" },
    {
      kind: "above_limit",
      operator: accountOf(8),
      chargeId: "0x01",
      amount: microUsdc(3_000_000n),
      limit: microUsdc(2_000_000n),
    },
    { kind: "contested", ...contest },
    { kind: "contested", ...contest },
    { kind: "contest_unanswerable", ...contest, reason: "the ledger has no receipts for it" },
    { kind: "contest_unanswerable", ...contest, account: accountOf(9), reason: "settlement is halted" },
    { kind: "contest_ended", ...contest, ended: "answered" },
    { kind: "contest_ended", ...contest, ended: "lapsed" },
    { kind: "halted", reason: "the ledger differs" },
    { kind: "halted", reason: "the ledger differs more" },
  ];
  for (const event of events) reportEvent(event, log, alerts);
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
    `Operator ${accountOf(1)} holds: fees of 1.`,
    `Operator ${accountOf(2)} holds: fees of 4.`,
    `Operator ${accountOf(2)} holds: the router is paused.`,
    `The charges of ${accountOf(3)} are set aside: it breaks its batch.`,
    `The charges of ${accountOf(4)} are set aside: it breaks its batch.`,
    `The code behind USDC was ${accountOf(5)} and is now ${accountOf(6)}.`,
    `The code behind USDC was ${accountOf(6)} and is now ${accountOf(7)}.`,
    "Endpoint 1 is at block 1, 60 s behind the others.",
    `Charge 0x01 of 3.00 USDC is above the whole limit of operator ${accountOf(8)}, 2.00.`,
    `${charged(1)} is contested, and answered until 1970-01-01T00:00:05.000Z.`,
    `Critical: ${charged(1, "what")} cannot be answered: the ledger has no receipts for it; ${LOST}.`,
    `Critical: ${charged(9, "what")} cannot be answered: settlement is halted; ${LOST}.`,
    `${charged(1)} was not answered in time, and is given back from the bond.`,
    "The ledger differs.",
  ]);
});

it("a tick that failed because something is away is told by what is away, and any other as such", () => {
  const lines: string[] = [];
  const log = pino({ level: "warn" }, { write: (line) => void lines.push(line) });
  const alerts = createAlerts({ log, clock: { nowMs: () => 1 }, webhook: null });
  for (const error of [
    new SettlementError("ledger_unavailable", "the ledger is locked", { retryable: true }),
    new SettlementError("chain_unavailable", "no endpoint answers", { retryable: true }),
    new SettlementError("fenced", "another process has the lease"),
    new TypeError("a defect"),
  ]) {
    reportFailedTick(error, alerts);
  }
  expect(lines.map((line) => [JSON.parse(line).alert, JSON.parse(line).msg])).toEqual([
    ["ledger_unavailable", "The ledger is locked."],
    ["chain_unavailable", "No endpoint answers."],
    // Once, whatever its words are.
    ["tick_failed", "Another process has the lease."],
  ]);
});
