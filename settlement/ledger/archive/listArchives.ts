import type { MicroUsdc } from "../../domain/money.ts";
import { amount, count, text } from "../database/decode.ts";
import type { Reader, Row } from "../database/sql.ts";

export type ArchiveState = "moving" | "archived" | "restoring";

export type Archive = {
  number: number;
  state: ArchiveState;
  file: string;
  checksum: string;
  bytes: number;
  createdAtMs: number;
  // When its charges were accrued; null if it has none.
  fromMs: number | null;
  toMs: number | null;
  blocks: number;
  // How many of them have left the ledger.
  moved: number;
  // What is in those.
  charges: number;
  accrued: MicroUsdc;
};

// Oldest first, from a number on.
export function listArchives(from: number, limit: number) {
  return async (sql: Reader): Promise<Archive[]> => {
    const rows = await sql.all("SELECT * FROM archives WHERE number >= $1 ORDER BY number LIMIT $2", [from, limit]);
    return rows.map(archiveFrom);
  };
}

export function findArchive(number: number) {
  return (sql: Reader): Promise<Archive | null> => archiveOf(sql, number);
}

// The one that a process has begun to move or to restore. There is one at a time.
export function findUnfinishedArchive() {
  return async (sql: Reader): Promise<Archive | null> => {
    const [row] = await sql.all("SELECT * FROM archives WHERE state <> 'archived' ORDER BY number LIMIT 1");
    return row === undefined ? null : archiveFrom(row);
  };
}

export async function archiveOf(sql: Reader, number: number, lock = ""): Promise<Archive | null> {
  const [row] = await sql.all(`SELECT * FROM archives WHERE number = $1 ${lock}`, [number]);
  return row === undefined ? null : archiveFrom(row);
}

function archiveFrom(row: Row): Archive {
  const time = (column: string) => (row[column] === null ? null : count(row, column));
  return {
    number: count(row, "number"),
    state: text(row, "state") as ArchiveState,
    file: text(row, "file"),
    checksum: text(row, "checksum"),
    bytes: count(row, "bytes"),
    createdAtMs: count(row, "created_at"),
    fromMs: time("from_at"),
    toMs: time("to_at"),
    blocks: count(row, "blocks"),
    moved: count(row, "moved"),
    charges: count(row, "charges"),
    accrued: amount(row, "accrued"),
  };
}
