import type { Address, Hex } from "viem";
import type { ChargeFailure } from "../../domain/batch/batch.ts";
import { type Charge, chargeIdOfCall } from "../../domain/charges/charge.ts";
import type { Place, StatementQuery } from "../../domain/charges/statement.ts";
import { letOthersRun } from "../../domain/scheduling/letOthersRun.ts";
import { chargeFrom } from "../accruals/decode.ts";
import { isChargedTo, isOfBatch, isOfPayer } from "../database/beginnings.ts";
import { count, text } from "../database/decode.ts";
import { chunksOf, type Param, placeholders, type Reader, type Row, type Value } from "../database/sql.ts";
import { holdFrom } from "../sessions/decode.ts";
import { lower, validCount, validTime } from "../validate.ts";
import { paged } from "./paged.ts";

// Some milliseconds.
const DECODED_AT_ONCE = 1_000;

// The index of ids has the beginnings of what was ever batched, segment by segment. The newest are looked into first, and others run in
// between.
export function findBatchedCharge(id: Hex) {
  return async (sql: Reader): Promise<Charge | null> => {
    for (let below: Value = ABOVE_ALL; ; ) {
      const rows = await sql.all(NEXT_SEGMENTS, [below, SEGMENTS_AT_ONCE]);
      const segments = rows.map(({ segment }) => segment ?? null);
      const last = segments.at(-1);
      if (last === undefined) return null;
      // Of one length, so that it is one statement.
      const filled = [...segments, ...Array<Value>(SEGMENTS_AT_ONCE - segments.length).fill(last)];
      const [found] = await charges(sql, IN_SEGMENTS, [lower(id), ...filled]);
      if (found !== undefined || segments.length < SEGMENTS_AT_ONCE) return found ?? null;
      below = last;
      await letOthersRun();
    }
  };
}

// Some hundred microseconds.
const SEGMENTS_AT_ONCE = 64;
const ABOVE_ALL = 2n ** 31n - 1n;

const IN_SEGMENTS = `c.segment IN (${placeholders(SEGMENTS_AT_ONCE, 2)})
  AND substr(c.id, 3, 12) = substr($1, 3, 12) AND c.id = $1 AND c.state <> 'accrued'`;

// From one segment straight to the next one below it that has anything left.
const nextBelow = (segment: string) =>
  `(SELECT c.segment FROM charges c WHERE c.state <> 'accrued' AND c.segment < ${segment} ORDER BY c.segment DESC LIMIT 1)`;
const NEXT_SEGMENTS = `WITH RECURSIVE segments (segment, looks) AS (
    SELECT ${nextBelow("$1")}, 1
    UNION ALL
    SELECT ${nextBelow("segments.segment")}, looks + 1 FROM segments WHERE segment IS NOT NULL AND looks < $2
  )
  SELECT segment FROM segments WHERE segment IS NOT NULL ORDER BY segment DESC`;

// The others are looked for among what is due, for as long as that takes.
export function findDueCharge(id: Hex) {
  return async (sql: Reader): Promise<Charge | null> =>
    (await charges(sql, "c.id = $1 AND c.state = 'accrued'", [lower(id)]))[0] ?? null;
}

// The charges of a turn or of a call.
export function listChargesOf(source: { turnId: string } | { callId: string }) {
  return async (sql: Reader): Promise<Charge[]> => {
    if ("turnId" in source) {
      const [turn] = await sql.all("SELECT charge_ids, recorded_at FROM turns WHERE id = $1", [source.turnId]);
      if (turn === undefined) return [];
      const ids = text(turn, "charge_ids").split(" ");
      return charges(sql, `c.accrued_at = $1 AND c.id IN (${placeholders(ids.length, 2)})`, [
        count(turn, "recorded_at"),
        ...ids,
      ]);
    }
    const [row] = await sql.all("SELECT * FROM holds WHERE call_id = $1 AND state = 'captured'", [source.callId]);
    if (row === undefined) return [];
    return charges(sql, "c.accrued_at = $1 AND c.id = $2", [count(row, "captured_at"), chargeIdOfCall(holdFrom(row))]);
  };
}

// Oldest first. It walks an index and never skips rows to get to its place, so that the last page costs what the first does.
export function listChargesOfPayer(payer: Address, query: StatementQuery) {
  const page = paged(query);
  return (sql: Reader): Promise<Charge[]> =>
    chargesOfPayer(sql, "c.accrued_at < $3 AND (c.accrued_at, c.id) > ($2, $4)", [lower(payer), ...page], {
      direction: "ASC",
      limit: "$5",
    });
}

// Of everybody or of one payer, newest first, from before a place on.
export function listNewestCharges(payer: Address | null, before: Place | null, limit: number) {
  const { atMs, id } = before ?? { atMs: Number.MAX_SAFE_INTEGER, id: "" };
  const page = [validTime("the place", atMs), lower(id), validCount("the limit", limit)];
  return (sql: Reader): Promise<Charge[]> =>
    payer === null
      ? charges(sql, "(c.accrued_at, c.id) < ($1, $2)", page, "c.accrued_at DESC, c.id DESC LIMIT $3")
      : chargesOfPayer(sql, "(c.accrued_at, c.id) < ($2, $3)", [lower(payer), ...page], {
          direction: "DESC",
          limit: "$4",
        });
}

// Those of a batch that one account is charged for.
export function listChargesOfRow(batchId: Hex, account: Address) {
  return (sql: Reader): Promise<Charge[]> =>
    charges(sql, `${isOfBatch("$1", "c.")} AND c.charged_to = $2`, [lower(batchId), lower(account)]);
}

// Each time that its payer could not pay.
export function listFailures(chargeId: Hex) {
  return async (sql: Reader): Promise<{ reason: ChargeFailure; atMs: number }[]> => {
    const rows = await sql.all(
      "SELECT reason, failed_at FROM failures WHERE charge_id = $1 ORDER BY failed_at, attempt",
      [lower(chargeId)],
    );
    return rows.map((row) => ({ reason: text(row, "reason") as ChargeFailure, atMs: count(row, "failed_at") }));
  };
}

const CHARGES = "SELECT c.*, s.state AS submission_state FROM charges c LEFT JOIN submissions s ON s.id = c.batch_id";

async function charges(sql: Reader, condition: string, params: readonly Param[], order = "c.id"): Promise<Charge[]> {
  return decoded(await sql.all(`${CHARGES} WHERE ${condition} ORDER BY ${order}`, params));
}

// Where those of a payer, the first parameter, are found, each by an index of its own: what is or was in a batch, what is due, and what is
// due again of somebody else, who took it over.
const OF_PAYER = [
  `${isOfPayer("$1", "c.")} AND c.state <> 'accrued'`,
  `c.payer = $1 AND c.state = 'accrued' AND ${isChargedTo("$1", "c.")}`,
  "c.payer = $1 AND c.state = 'accrued' AND c.charged_to <> c.payer",
];

// In one statement, so that none is missed that gets into a batch, or out of one, at the same time.
async function chargesOfPayer(
  sql: Reader,
  condition: string,
  params: readonly Param[],
  { direction, limit }: { direction: "ASC" | "DESC"; limit: string },
): Promise<Charge[]> {
  const [ofOne, ofAll] = ["c.", ""].map(
    (table) => `ORDER BY ${table}accrued_at ${direction}, ${table}id ${direction} LIMIT ${limit}`,
  );
  const parts = OF_PAYER.map(
    (place, i) => `SELECT * FROM (${CHARGES} WHERE ${place} AND ${condition} ${ofOne}) AS part${i}`,
  );
  return decoded(await sql.all(`${parts.join(" UNION ALL ")} ${ofAll}`, params));
}

async function decoded(rows: readonly Row[]): Promise<Charge[]> {
  // A row of a batch may have thousands of them.
  const found: Charge[] = [];
  for (const some of chunksOf(rows, DECODED_AT_ONCE)) {
    if (found.length > 0) await letOthersRun();
    for (const row of some) found.push(chargeFrom(row));
  }
  return found;
}
