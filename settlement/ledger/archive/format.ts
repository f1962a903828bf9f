import { createHash } from "node:crypto";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Hex } from "viem";
import { type ChargeFor, type ChargeSource, chargeIdOf } from "../../domain/charges/charge.ts";
import { SettlementError } from "../../domain/errors.ts";
import type { ToolId } from "../../domain/toolId.ts";
import type { Row, Value } from "../database/sql.ts";

// A file is a sequence of blocks, each compressed by itself, then their directory, then a trailer of fixed length that says
// where the directory is. To find one charge, one block is read; to check the whole, the file's hash.
//
// A block has rows by table, column by column, because what stands in one column is alike and compresses well. Columns are those
// of the table, whichever it has.
export const TABLES = ["turns", "holds", "charges", "failures", "batches", "submissions", "broadcasts"] as const;
export type Table = (typeof TABLES)[number];
export type Block = Readonly<Record<Table, readonly Row[]>>;

export type BlockEntry = {
  offset: number;
  length: number;
  // Who the charges in it are of, from the first to the last: the charges of a file are in the order of payers.
  firstPayer: string | null;
  lastPayer: string | null;
};

export type Directory = { version: 1; blocks: readonly BlockEntry[] };

export const NO_ROWS: Block = {
  turns: [],
  holds: [],
  charges: [],
  failures: [],
  batches: [],
  submissions: [],
  broadcasts: [],
};

const MAGIC = "CTXARCH1";
export const TRAILER_BYTES = MAGIC.length + 16;
// A block is read far more seldom than it is written, and this is the level at which writing still takes less than reading the
// rows did.
const LEVEL = 9;
const PARAMS = {
  params: {
    [constants.ZSTD_c_compressionLevel]: LEVEL,
    // A block that was damaged on disk is found when it is read.
    [constants.ZSTD_c_checksumFlag]: 1,
  },
};
// More than any block comes to, so that no file can fill the memory of whoever reads it.
const MAX_BLOCK_BYTES = 256 * 1024 * 1024;

export type EncodedFile = { parts: readonly Uint8Array[]; bytes: number; checksum: string };

export function encodeFile(blocks: readonly { bytes: Uint8Array; block: Block }[]): EncodedFile {
  const entries: BlockEntry[] = [];
  const parts: Uint8Array[] = [];
  let offset = 0;
  for (const { bytes, block } of blocks) {
    const payers = block.charges.map(({ payer }) => String(payer)).sort();
    entries.push({ offset, length: bytes.length, firstPayer: payers[0] ?? null, lastPayer: payers.at(-1) ?? null });
    parts.push(bytes);
    offset += bytes.length;
  }
  const directory = compress(JSON.stringify({ version: 1, blocks: entries } satisfies Directory));
  const trailer = Buffer.alloc(TRAILER_BYTES);
  trailer.writeBigUInt64BE(BigInt(offset), 0);
  trailer.writeBigUInt64BE(BigInt(directory.length), 8);
  trailer.write(MAGIC, 16, "latin1");
  parts.push(directory, trailer);
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return { parts, bytes: offset + directory.length + trailer.length, checksum: hash.digest("hex") };
}

// Where the directory is, by the last bytes of a file.
export function decodeTrailer(bytes: Uint8Array): { offset: number; length: number } {
  const trailer = Buffer.from(bytes);
  if (trailer.length !== TRAILER_BYTES || trailer.toString("latin1", 16) !== MAGIC)
    return damaged("its end is missing");
  return { offset: Number(trailer.readBigUInt64BE(0)), length: Number(trailer.readBigUInt64BE(8)) };
}

export function decodeDirectory(bytes: Uint8Array): Directory {
  const directory = JSON.parse(decompress(bytes)) as Directory;
  return directory.version === 1 ? directory : damaged(`it has version ${directory.version}`);
}

export function encodeBlock(block: Block): Uint8Array {
  const packed = pack(block);
  const columns = TABLES.filter((table) => packed[table].length > 0).map((table) => [table, columnsOf(packed[table])]);
  return compress(JSON.stringify(Object.fromEntries(columns)));
}

export function decodeBlock(bytes: Uint8Array): Block {
  const tables = JSON.parse(decompress(bytes)) as Record<string, Columns>;
  return unpack({ ...NO_ROWS, ...Object.fromEntries(TABLES.map((table) => [table, rowsOf(tables[table] ?? {})])) });
}

// A value is written as it is; a whole number that JSON cannot hold is written as its digits in a list.
type Written = string | number | [string] | null;
type Columns = Record<string, Written[]>;

function columnsOf(rows: readonly Row[]): Columns {
  const columns: Columns = {};
  for (const column of Object.keys(rows[0] ?? {}).sort())
    columns[column] = rows.map((row) => write(row[column] ?? null));
  return columns;
}

function rowsOf(columns: Columns): Row[] {
  const names = Object.keys(columns);
  const length = names[0] === undefined ? 0 : (columns[names[0]]?.length ?? 0);
  return Array.from({ length }, (_, i) =>
    Object.fromEntries(names.map((name) => [name, read(columns[name]?.[i] ?? null)])),
  );
}

function write(value: Value): Written {
  if (typeof value !== "bigint") return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : [value.toString()];
}

function read(value: Written): Value {
  if (typeof value === "number") return BigInt(value);
  return Array.isArray(value) ? BigInt(value[0]) : value;
}

// What follows from the rest of a block is not written: ids of charges are hashes, and would be most of it.
function pack(block: Block): Block {
  const turnIds = idsByTurn(block);
  return {
    ...block,
    charges: block.charges.map((row) => (row.id === idOf(row) ? { ...row, id: null } : row)),
    turns: block.turns.map((row) => (row.charge_ids === turnIds.get(row.id) ? { ...row, charge_ids: null } : row)),
  };
}

function unpack(packed: Block): Block {
  const charges = packed.charges.map((row) => (row.id === null ? { ...row, id: idOf(row) } : row));
  const turnIds = idsByTurn({ ...packed, charges });
  const turns = packed.turns.map((row) =>
    row.charge_ids === null ? { ...row, charge_ids: turnIds.get(row.id) ?? "" } : row,
  );
  return { ...packed, charges, turns };
}

function idOf({ turn_id: turnId, session_id: sessionId, call_id: callId, tool_id: toolId }: Row): Hex {
  const source: ChargeSource =
    turnId === null || turnId === undefined
      ? { kind: "call", sessionId: String(sessionId), callId: String(callId) }
      : { kind: "turn", turnId: String(turnId) };
  const subject: ChargeFor =
    toolId === null || toolId === undefined
      ? { kind: "model" }
      : { kind: "tool", toolId: String(toolId) as ToolId, calls: 0 };
  return chargeIdOf(source, subject);
}

// A turn names its charges in the order of tools, the model last.
function idsByTurn({ charges }: Block): Map<Value | undefined, string> {
  const byTurn = Map.groupBy(charges, ({ turn_id: turnId }) => turnId);
  const rank = ({ tool_id: toolId }: Row) => (toolId === null ? "~" : String(toolId));
  return new Map(
    [...byTurn].map(([turnId, own]) => [
      turnId,
      own
        .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
        .map(({ id }) => id)
        .join(" "),
    ]),
  );
}

const compress = (text: string) => zstdCompressSync(Buffer.from(text), PARAMS);

function decompress(bytes: Uint8Array): string {
  try {
    return zstdDecompressSync(bytes, { maxOutputLength: MAX_BLOCK_BYTES }).toString();
  } catch (cause) {
    return damaged(cause instanceof Error ? cause.message : String(cause));
  }
}

function damaged(how: string): never {
  throw new SettlementError(
    "archive_unavailable",
    `a file of the archive is damaged: ${how}; put a copy of it in its place`,
  );
}
