import { address, count, hex, text } from "../database/decode.ts";
import { chargeKeys, chunksOf, placeholders, type Reader, type Row } from "../database/sql.ts";
import { type Block, NO_ROWS } from "./format.ts";

export type ArchiveLimits = {
  // How many charges a file has at the most, and how many one commit moves.
  chargesPerFile: number;
  chargesPerBlock: number;
};

export const ARCHIVE_LIMITS: ArchiveLimits = { chargesPerFile: 50_000, chargesPerBlock: 500 };

const DAY_MS = 24 * 60 * 60 * 1_000;
const KEYS_PER_PAGE = 5_000;
// Of what has no charges: in the next file the next ones.
const MAX_OTHERS = 5_000;
const MAX_BATCHES = 500;
const MAX_BATCHES_PER_BLOCK = 50;
// Receipts are hexadecimal, so half of this is what a block comes to.
const BATCH_TEXT_PER_BLOCK = 512 * 1024;

// A charge that will not change any more: waived, or in a batch that has been final for as long. What the platform paid for
// somebody stays until it is repaid, because it is a debt until then.
const FINISHED = `(c.state = 'voided' OR (c.state IN ('batched', 'refused') AND s.state = 'final' AND b.final_at < $3))
  AND c.waiting = 0 AND (c.charged_to = c.payer OR c.cleared = 1 OR c.state IN ('refused', 'voided'))`;

// The oldest of what is finished and older than a time: charges of one day, with the turns and calls that they are of, then
// turns and calls without any, then batches. Read without a lock: whoever moves a block compares it with what is there.
export function selectBlocks(beforeMs: number, limits: ArchiveLimits) {
  return async (sql: Reader): Promise<Block[]> => [
    ...(await selectCharges(sql, beforeMs, limits)),
    ...(await selectOthers(sql, beforeMs, limits)),
    ...(await selectBatches(sql, beforeMs)),
  ];
}

type Key = { payer: string; accruedAtMs: number; id: string };

async function selectCharges(sql: Reader, beforeMs: number, limits: ArchiveLimits): Promise<Block[]> {
  const keys = await selectKeys(sql, beforeMs, limits.chargesPerFile);
  // In the order of payers, so that a statement finds its lines together.
  keys.sort((a, b) => compare(a.payer, b.payer) || a.accruedAtMs - b.accruedAtMs || compare(a.id, b.id));
  const seenTurns = new Set<string>();
  const blocks: Block[] = [];
  for (const chunk of chunksOf(keys, limits.chargesPerBlock)) blocks.push(await blockOf(sql, chunk, seenTurns));
  return blocks;
}

async function selectKeys(sql: Reader, beforeMs: number, limit: number): Promise<Key[]> {
  const keys: Key[] = [];
  let untilMs = beforeMs;
  let place: { atMs: number; id: string } = { atMs: Number.MIN_SAFE_INTEGER, id: "" };
  while (keys.length < limit) {
    const rows = await sql.all(
      `SELECT c.accrued_at, c.id, c.payer FROM charges c
         LEFT JOIN submissions s ON s.id = c.batch_id LEFT JOIN batches b ON b.batch_id = c.batch_id
       WHERE (c.accrued_at, c.id) > ($1, $2) AND c.accrued_at < $4 AND ${FINISHED}
       ORDER BY c.accrued_at, c.id LIMIT $5`,
      [place.atMs, place.id, beforeMs, untilMs, Math.min(KEYS_PER_PAGE, limit - keys.length)],
    );
    for (const row of rows) {
      keys.push({ payer: address(row, "payer"), accruedAtMs: count(row, "accrued_at"), id: hex(row, "id") });
    }
    const [first, last] = [keys[0], keys.at(-1)];
    if (first === undefined || last === undefined || rows.length === 0) break;
    // A file is of one day.
    untilMs = Math.min(beforeMs, (Math.floor(first.accruedAtMs / DAY_MS) + 1) * DAY_MS);
    const ofOtherDays = keys.findIndex(({ accruedAtMs }) => accruedAtMs >= untilMs);
    if (ofOtherDays >= 0) return keys.slice(0, ofOtherDays);
    place = { atMs: last.accruedAtMs, id: last.id };
  }
  return keys;
}

async function blockOf(sql: Reader, keys: readonly Key[], seenTurns: Set<string>): Promise<Block> {
  const charges: Row[] = [];
  for (const chunk of chunksOf(keys)) {
    const params = chunk.flatMap(({ accruedAtMs, id }) => [accruedAtMs, id]);
    charges.push(
      ...(await sql.all(`SELECT * FROM charges WHERE (accrued_at, id) IN ${chargeKeys(chunk.length, 1)}`, params)),
    );
  }
  const position = new Map(keys.map(({ id }, i) => [id, i]));
  charges.sort((a, b) => (position.get(text(a, "id")) ?? 0) - (position.get(text(b, "id")) ?? 0));

  const turnIds = namesOf(charges, "turn_id").filter((id) => !seenTurns.has(id));
  for (const id of turnIds) seenTurns.add(id);
  const tried = charges.filter(({ attempts }) => attempts !== 0n);
  return {
    ...NO_ROWS,
    charges,
    turns: await rowsIn(sql, "turns", "id", turnIds),
    holds: await rowsIn(sql, "holds", "call_id", namesOf(charges, "call_id")),
    failures: await rowsIn(sql, "failures", "charge_id", namesOf(tried, "id")),
  };
}

// Calls that came to nothing or were free, and turns that cost nothing.
async function selectOthers(sql: Reader, beforeMs: number, limits: ArchiveLimits): Promise<Block[]> {
  const read = (table: "holds" | "turns", condition: string, at: string, key: string) =>
    sql.all(`SELECT * FROM ${table} WHERE ${condition} AND ${at} < $1 ORDER BY ${at}, ${key} LIMIT ${MAX_OTHERS}`, [
      beforeMs,
    ]);
  const voided = await read("holds", "state = 'voided'", "held_at", "call_id");
  const free = (await read("holds", "amount = 0", "held_at", "call_id")).filter(({ state }) => state === "captured");
  const turns = await read("turns", "charge_ids = ''", "recorded_at", "id");
  return [
    ...chunksOf([...voided, ...free], limits.chargesPerBlock).map((holds) => ({ ...NO_ROWS, holds })),
    ...chunksOf(turns, limits.chargesPerBlock).map((some) => ({ ...NO_ROWS, turns: some })),
  ];
}

async function selectBatches(sql: Reader, beforeMs: number): Promise<Block[]> {
  const sized = await sql.all(
    `SELECT b.batch_id, COALESCE(LENGTH(r.receipts), 0) + LENGTH(s.calldata) AS size
     FROM batches b JOIN submissions s ON s.id = b.batch_id LEFT JOIN receipts r ON r.batch_id = b.batch_id
     WHERE b.archived = 0 AND b.final_at < $1 AND s.state = 'final' AND s.nonce_open = 0
     ORDER BY b.final_at, b.batch_id LIMIT ${MAX_BATCHES}`,
    [beforeMs],
  );
  const groups: string[][] = [];
  let room = 0;
  for (const row of sized) {
    const size = count(row, "size");
    const group = groups.at(-1);
    if (group === undefined || group.length === MAX_BATCHES_PER_BLOCK || size > room) {
      groups.push([text(row, "batch_id")]);
      room = BATCH_TEXT_PER_BLOCK - size;
    } else {
      group.push(text(row, "batch_id"));
      room -= size;
    }
  }
  return Promise.all(groups.map((batchIds) => batchesOf(sql, batchIds)));
}

export async function batchesOf(sql: Reader, batchIds: readonly string[]): Promise<Block> {
  const of = (key: string) => `WHERE ${key} IN (${placeholders(batchIds.length)})`;
  return {
    ...NO_ROWS,
    batches: await sql.all(
      `SELECT b.batch_id, COALESCE(r.receipts, '') AS receipts FROM batches b LEFT JOIN receipts r ON r.batch_id = b.batch_id
       ${of("b.batch_id")} ORDER BY b.batch_id`,
      batchIds,
    ),
    submissions: await sql.all(`SELECT id, calldata FROM submissions ${of("id")} ORDER BY id`, batchIds),
    broadcasts: await sql.all(`SELECT * FROM broadcasts ${of("submission_id")} ORDER BY tx_hash`, batchIds),
  };
}

async function rowsIn(sql: Reader, table: string, key: string, names: readonly string[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const chunk of chunksOf(names)) {
    rows.push(...(await sql.all(`SELECT * FROM ${table} WHERE ${key} IN (${placeholders(chunk.length)})`, chunk)));
  }
  return rows;
}

const namesOf = (rows: readonly Row[], column: string) => [
  ...new Set(rows.flatMap((row) => (row[column] === null ? [] : [text(row, column)]))),
];

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
