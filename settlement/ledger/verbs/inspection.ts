import type { ChargeFailure } from "../../domain/batch.ts";
import type { Charge } from "../../domain/charge.ts";
import { microUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { address, amount, chargeFrom, chargeIdOfCall, count, hex, holdFrom, inclusionFrom, text } from "../decode.ts";
import { FIGURE_STEP_MS, figuresFrom, NO_FIGURES, SUMS } from "../figures.ts";
import type { Inspection, SettledBatch } from "../ledger.ts";
import { type Param, placeholders, type Reader, type Row } from "../sql.ts";
import { invalid, lower, validCount, validTime } from "../validate.ts";
import { gauges } from "./gauges.ts";
import { outcomeFromJson } from "./outcomeJson.ts";
import { findSubmission } from "./submissions.ts";

const BATCHES = `SELECT b.root, b.row_count, b.charge_count, b.total, b.outcome, b.created_at, s.operator, s.state,
    b.final_at, s.tx_hash, s.block_number, s.block_hash, s.gas_used
  FROM batches b JOIN submissions s ON s.id = b.root`;

const MAX_STEPS = 1_000;

// All of it reads what is committed and holds nobody up.
export function createInspection(sql: Reader): Omit<Inspection, "audit" | "finalBatches"> {
  async function charges(condition: string, params: readonly Param[]): Promise<Charge[]> {
    const rows = await sql.all(
      `SELECT c.*, s.state AS submission_state
       FROM charges c LEFT JOIN submissions s ON s.id = c.root
       WHERE ${condition}
       ORDER BY c.id`,
      params,
    );
    return rows.map(chargeFrom);
  }

  return {
    gauges: () => gauges(sql),
    // The index of ids has what was ever batched; the others are looked for among what is due.
    async charge(id) {
      const [indexed] = await charges("c.id = $1 AND c.state <> 'accrued'", [lower(id)]);
      return indexed ?? (await charges("c.id = $1 AND c.state = 'accrued'", [lower(id)]))[0] ?? null;
    },
    async chargesOf(source) {
      if ("turnId" in source) {
        const [turn] = await sql.all("SELECT charge_ids, recorded_at FROM turns WHERE id = $1", [source.turnId]);
        if (turn === undefined) return [];
        const ids = text(turn, "charge_ids").split(" ");
        return charges(`c.accrued_at = $1 AND c.id IN (${placeholders(ids.length, 2)})`, [
          count(turn, "recorded_at"),
          ...ids,
        ]);
      }
      const [row] = await sql.all("SELECT * FROM holds WHERE call_id = $1 AND state = 'captured'", [source.callId]);
      if (row === undefined) return [];
      return charges("c.accrued_at = $1 AND c.id = $2", [count(row, "captured_at"), chargeIdOfCall(holdFrom(row))]);
    },
    async receiptsOf(root) {
      const rows = await sql.all("SELECT charge_id, leaf FROM receipts WHERE root = $1 ORDER BY position", [
        lower(root),
      ]);
      return rows.map((row) => ({ chargeId: hex(row, "charge_id"), leaf: hex(row, "leaf") }));
    },
    async batch(root) {
      const [row] = await sql.all(`${BATCHES} WHERE b.root = $1`, [lower(root)]);
      return row === undefined ? null : batchFrom(row);
    },
    async submission(id) {
      return findSubmission(sql, lower(id));
    },
    async accountsOf(root) {
      const rows = await sql.all(
        `SELECT DISTINCT c.charged_to FROM charges c JOIN receipts r ON r.charge_id = c.id
         WHERE r.root = $1 ORDER BY c.charged_to`,
        [lower(root)],
      );
      return rows.map((row) => address(row, "charged_to"));
    },
    async payees() {
      const rows = await sql.all("SELECT payee FROM payees ORDER BY payee");
      return rows.map((row) => address(row, "payee"));
    },
    async batches(limit, offset) {
      const rows = await sql.all(`${BATCHES} ORDER BY b.created_at DESC, b.root LIMIT $1 OFFSET $2`, [
        validCount("the limit", limit),
        validCount("the offset", offset),
      ]);
      return rows.map(batchFrom);
    },
    async totals() {
      const [row] = await sql.all(`SELECT ${SUMS} FROM totals`);
      const { accrued, settled, absorbed, refused, voided } = row === undefined ? NO_FIGURES : figuresFrom(row);
      const pending = microUsdc(accrued - settled - absorbed - refused - voided);
      return { accrued, pending, settled, absorbed, refused, voided };
    },
    async timeline({ fromMs, toMs, stepMs }) {
      if (validCount("the step", stepMs) === 0 || stepMs % FIGURE_STEP_MS !== 0) {
        invalid(`the step is ${stepMs}; it must be a multiple of ${FIGURE_STEP_MS} milliseconds`);
      }
      const length = validTime("the end", toMs) - validTime("the beginning", fromMs);
      if (length < 0 || length > MAX_STEPS * stepMs) invalid(`a time line has from 0 to ${MAX_STEPS} steps`);
      const start = fromMs - (fromMs % stepMs);
      const rows = await sql.all(
        `SELECT (at - CAST($1 AS BIGINT)) / CAST($2 AS BIGINT) AS step, ${SUMS} FROM figures
         WHERE at >= $1 AND at < $3 GROUP BY (at - CAST($1 AS BIGINT)) / CAST($2 AS BIGINT)`,
        [start, stepMs, toMs],
      );
      const steps = new Map(rows.map((row) => [count(row, "step"), figuresFrom(row)]));
      return Array.from({ length: Math.ceil((toMs - start) / stepMs) }, (_, step) => ({
        atMs: start + step * stepMs,
        ...(steps.get(step) ?? NO_FIGURES),
      }));
    },
    async settledByTool() {
      const rows = await sql.all(
        `SELECT tool_id, CAST(SUM(amount) AS BIGINT) AS amount FROM charges
         WHERE state IN ('final', 'absorbed') AND tool_id IS NOT NULL GROUP BY tool_id ORDER BY tool_id`,
      );
      return rows.map((row) => ({ toolId: hex(row, "tool_id") as ToolId, amount: amount(row) }));
    },
    async settledByAccount() {
      const rows = await sql.all(
        `SELECT charged_to, CAST(SUM(amount) AS BIGINT) AS amount FROM charges
         WHERE state IN ('final', 'absorbed') GROUP BY charged_to ORDER BY charged_to`,
      );
      return rows.map((row) => ({ account: address(row, "charged_to"), amount: amount(row) }));
    },
    async failures(chargeId) {
      const rows = await sql.all(
        "SELECT reason, failed_at FROM failures WHERE charge_id = $1 ORDER BY failed_at, attempt",
        [lower(chargeId)],
      );
      return rows.map((row) => ({ reason: text(row, "reason") as ChargeFailure, atMs: count(row, "failed_at") }));
    },
  };
}

function batchFrom(row: Row): SettledBatch {
  return {
    root: hex(row, "root"),
    operator: address(row, "operator"),
    state: text(row, "state") as SettledBatch["state"],
    rows: count(row, "row_count"),
    charges: count(row, "charge_count"),
    total: amount(row, "total"),
    outcome: row.outcome === null ? null : outcomeFromJson(text(row, "outcome")),
    inclusion: inclusionFrom(row),
    createdAtMs: count(row, "created_at"),
    finalAtMs: row.final_at === null ? null : count(row, "final_at"),
  };
}
