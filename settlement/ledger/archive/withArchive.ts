import type { Address, Hex } from "viem";
import type { ChargeFailure } from "../../domain/batch/batch.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import { type Charge, chargeIdOfCall } from "../../domain/charges/charge.ts";
import type { Call, Capture, Hold, Session } from "../../domain/charges/session.ts";
import type { StatementQuery } from "../../domain/charges/statement.ts";
import type { Turn } from "../../domain/charges/turn.ts";
import { type MicroUsdc, microUsdc } from "../../domain/money.ts";
import type { BudgetOnChain } from "../../domain/payer/budget.ts";
import type { CreditPolicy } from "../../domain/payer/credit.ts";
import type { ReadFunds } from "../../domain/payer/payer.ts";
import type { ToolId } from "../../domain/toolId.ts";
import type { Accruals } from "../accruals/createAccruals.ts";
import type { Report, TurnOutcome, TurnTerms } from "../accruals/recordTurn.ts";
import { address, amount, count, hex, text } from "../database/decode.ts";
import type { Row } from "../database/sql.ts";
import type { Reads } from "../reads/createReads.ts";
import type { CaptureOutcome, FlushPolicy } from "../sessions/capture.ts";
import type { Sessions } from "../sessions/createSessions.ts";
import { type HoldOutcome, isSameCall } from "../sessions/hold.ts";
import type { VoidOutcome } from "../sessions/voidHold.ts";
import type { Submissions } from "../submissions/createSubmissions.ts";
import { broadcastFrom } from "../submissions/decode.ts";
import { type StoredReceipt, unpackReceipts } from "../submissions/receipts.ts";
import { lower } from "../validate.ts";
import { byPlace, type FindArchived } from "./findArchived.ts";

type Hot = Accruals & Sessions & Submissions & Reads;

// The verbs that go on where the tables end: what is asked for by its name is found in the archive, and what is delivered again is
// known by it. All others say what is in the tables.
export function withArchive(hot: Hot, archived: FindArchived) {
  // What a call has come to that is only in the archive now.
  async function endedCall(callId: string): Promise<{ hold: Hold; session: Session } | null> {
    const hold = await archived.hold(callId);
    const session = hold === null ? null : await hot.findSession(hold.sessionId);
    return hold === null || session === null ? null : { hold, session };
  }

  async function findCharge(id: Hex): Promise<Charge | null> {
    return (
      (await hot.findBatchedCharge(id)) ??
      (await archived.charge(lower(id))) ??
      (await hot.findDueCharge(id)) ??
      // Batched in between.
      hot.findBatchedCharge(id)
    );
  }

  async function listReceipts(batchId: Hex): Promise<StoredReceipt[]> {
    const here = await hot.listReceipts(batchId);
    if (here.length > 0) return here;
    const packed = await archived.receipts(lower(batchId));
    return packed === null ? [] : unpackReceipts(packed);
  }

  // A turn leaves with the first of its charges; others of them may still be here.
  async function chargesOfTurn(turnId: string): Promise<Charge[]> {
    const turn = await archived.turn(turnId);
    if (turn === null) return [];
    const found: Charge[] = [];
    for (const id of text(turn, "charge_ids").split(" ")) {
      const charge = id === "" ? null : await findCharge(id as Hex);
      if (charge !== null) found.push(charge);
    }
    return found.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async function sumUp<Key extends string>(
    sums: Map<Key, bigint>,
    keyOf: (charge: Row) => Key | null,
  ): Promise<[Key, MicroUsdc][]> {
    for await (const { charges } of archived.blocks()) {
      for (const charge of charges) {
        const key = charge.state === "batched" ? keyOf(charge) : null;
        if (key !== null) sums.set(key, (sums.get(key) ?? 0n) + amount(charge));
      }
    }
    return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, sum]) => [key, microUsdc(sum)]);
  }

  async function recordTurn(
    turn: Turn,
    nowMs: number,
    terms: TurnTerms | null = null,
    onChain: BudgetOnChain | null = null,
  ): Promise<TurnOutcome> {
    for (let ruledOut: readonly bigint[] = []; ; ) {
      const outcome = await hot.recordTurn({ turn, terms, onChain, ruledOut }, nowMs);
      if (outcome.kind !== "archived") return outcome;
      const known = await archived.turn(turn.id);
      if (known !== null) {
        const { digest, chargeIds } = outcome;
        return text(known, "digest") === digest ? { kind: "duplicate", chargeIds } : { kind: "conflict" };
      }
      ruledOut = outcome.places;
    }
  }

  return {
    ...hot,

    recordTurn,

    // Many in one commit. Each has an outcome of its own.
    async recordTurns(reports: readonly Omit<Report, "ruledOut">[], nowMs: number): Promise<TurnOutcome[]> {
      const outcomes: TurnOutcome[] = [];
      for (const [i, outcome] of (await hot.recordTurns(reports, nowMs)).entries()) {
        const { turn, terms, onChain } = reports[i] as Report;
        outcomes.push(outcome.kind === "archived" ? await recordTurn(turn, nowMs, terms, onChain) : outcome);
      }
      return outcomes;
    },

    async hold(
      call: Call,
      funds: ReadFunds | null,
      nowMs: number,
      credit: CreditPolicy | null = null,
    ): Promise<HoldOutcome> {
      for (let ruledOut: readonly bigint[] = []; ; ) {
        const outcome = await hot.hold(call, funds, nowMs, credit, ruledOut);
        if (outcome.kind !== "archived") return outcome;
        const known = await archived.hold(call.callId);
        const { session } = outcome;
        if (known !== null) {
          return session !== null && isSameCall(known, { ...call, toolId: lower(call.toolId) })
            ? { kind: "duplicate", hold: known, session }
            : { kind: "conflict" };
        }
        ruledOut = outcome.places;
      }
    },

    async capture(capture: Capture, policy: FlushPolicy, nowMs: number): Promise<CaptureOutcome> {
      const outcome = await hot.capture(capture, policy, nowMs);
      if (outcome.kind !== "hold_not_found") return outcome;
      const ended = await endedCall(capture.callId);
      if (ended === null) return outcome;
      const { state } = ended.hold;
      return state.kind === "captured"
        ? { kind: "duplicate", ...ended, chargeId: state.chargeId }
        : { kind: "voided", ...ended };
    },

    async void(callId: string): Promise<VoidOutcome> {
      const outcome = await hot.void(callId);
      if (outcome.kind !== "hold_not_found") return outcome;
      const ended = await endedCall(callId);
      if (ended === null) return outcome;
      return { kind: ended.hold.state.kind === "captured" ? "captured" : "duplicate", ...ended };
    },

    findHold: async (callId: string): Promise<Hold | null> =>
      (await hot.findHold(callId)) ?? (await archived.hold(callId)),

    findCharge,

    async listChargesOf(source: { turnId: string } | { callId: string }): Promise<Charge[]> {
      const here = await hot.listChargesOf(source);
      if (here.length > 0) return here;
      if ("turnId" in source) return chargesOfTurn(source.turnId);
      const hold = await archived.hold(source.callId);
      const charge = hold?.state.kind === "captured" ? await findCharge(chargeIdOfCall(hold)) : null;
      return charge === null ? [] : [charge];
    },

    async listChargesOfPayer(payer: Address, query: StatementQuery): Promise<Charge[]> {
      // What is archived is asked for first: what leaves in between is then in both, and told once.
      const old = await archived.chargesOfPayer(lower(payer), query);
      const here = await hot.listChargesOfPayer(payer, query);
      const all = new Map([...old, ...here].map((charge) => [charge.id, charge]));
      return [...all.values()].sort(byPlace).slice(0, query.limit);
    },

    async listChargesOfRow(batchId: Hex, account: Address): Promise<Charge[]> {
      // Which charges of a batch have left is known by its receipts alone. What leaves in between is in both, and told once.
      const ids = (await listReceipts(batchId)).map(({ chargeId }) => chargeId);
      const here = await hot.listChargesOfRow(batchId, account);
      const old = (await archived.charges(ids)).filter(
        ({ chargedTo, state }) =>
          chargedTo === lower(account) && "batchId" in state && state.batchId === lower(batchId),
      );
      return [...new Map([...here, ...old].map((charge) => [charge.id, charge])).values()];
    },

    async listFailures(chargeId: Hex): Promise<{ reason: ChargeFailure; atMs: number }[]> {
      const here = await hot.listFailures(chargeId);
      if (here.length > 0) return here;
      const rows = await archived.failures(lower(chargeId));
      return rows
        .map((row) => ({ reason: text(row, "reason") as ChargeFailure, atMs: count(row, "failed_at") }))
        .sort((a, b) => a.atMs - b.atMs);
    },

    listReceipts,

    async findSubmission(id: Hex): Promise<Submission | null> {
      const submission = await hot.findSubmission(id);
      if (submission === null || submission.calldata !== WITHOUT_CALLDATA) return submission;
      const old = await archived.submission(submission.id);
      // It was restored in between.
      if (old === null) return hot.findSubmission(id);
      return { ...submission, calldata: old.calldata, broadcasts: old.broadcasts.map(broadcastFrom) };
    },

    // Also that every file is there. Whether each is what was written takes reading all of them: `verifyArchive`.
    async audit(): Promise<string[]> {
      const differences = await hot.audit();
      for await (const problem of archived.missing()) differences.push(problem);
      return differences;
    },

    async readSettledByTool(): Promise<{ toolId: ToolId; amount: MicroUsdc }[]> {
      const here = new Map((await hot.readSettledByTool()).map(({ toolId, amount: sum }) => [toolId, sum as bigint]));
      const sums = await sumUp(here, (charge) => (charge.tool_id === null ? null : (hex(charge, "tool_id") as ToolId)));
      return sums.map(([toolId, sum]) => ({ toolId, amount: sum }));
    },

    async readSettledByAccount(): Promise<{ account: Address; amount: MicroUsdc }[]> {
      const here = new Map(
        (await hot.readSettledByAccount()).map(({ account, amount: sum }) => [account, sum as bigint]),
      );
      const sums = await sumUp(here, (charge) => address(charge, "charged_to"));
      return sums.map(([account, sum]) => ({ account, amount: sum }));
    },
  };
}

// Every submission has at least `0x`.
const WITHOUT_CALLDATA = "" as Hex;
