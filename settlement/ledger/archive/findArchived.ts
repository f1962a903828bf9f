import type { Address, Hex } from "viem";
import type { Charge } from "../../domain/charges/charge.ts";
import type { Hold } from "../../domain/charges/session.ts";
import type { StatementQuery } from "../../domain/charges/statement.ts";
import { letOthersRun } from "../../domain/scheduling/letOthersRun.ts";
import { chargeFrom } from "../accruals/decode.ts";
import { integer } from "../database/decode.ts";
import { chunksOf, type Reader, type Row } from "../database/sql.ts";
import { holdFrom } from "../sessions/decode.ts";
import type { Block } from "./format.ts";
import { type Archive, archiveOf, listArchives } from "./listArchives.ts";
import { callName, type Fingerprint, fromPlace, hashName, turnName } from "./names.ts";
import { placesOf } from "./places.ts";
import type { ArchiveFiles } from "./readBlock.ts";

const PAGE = 100;
// Some milliseconds.
const NAMES_AT_ONCE = 1_000;

export type FindArchived = ReturnType<typeof createFindArchived>;

// What has left the ledger, by its name, from the files.
export function createFindArchived(sql: Reader, files: ArchiveFiles) {
  async function blockAt(place: bigint): Promise<Block | null> {
    const { archive: number, block } = fromPlace(place);
    const archive = await archiveOf(sql, number);
    // Restored since.
    return archive === null || block >= archive.moved ? null : files.blockOf(archive, block);
  }

  // The first row that a block has by this name. A name may share its fingerprint with another one.
  async function find(name: Fingerprint, pick: (block: Block) => Row | undefined): Promise<[Row, Block] | null> {
    for (const place of (await placesOf(sql, [name])).get(name) ?? []) {
      const block = await blockAt(place);
      const row = block === null ? undefined : pick(block);
      if (block !== null && row !== undefined) return [row, block];
    }
    return null;
  }

  async function* all(): AsyncGenerator<Archive> {
    for (let from = 0; ; ) {
      const page = await listArchives(from, PAGE)(sql);
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      from = last.number + 1;
    }
  }

  const chargeOf = async (id: Hex) => find(hashName(id), ({ charges }) => charges.find((row) => row.id === id));
  const batchOf = async (batchId: Hex) =>
    find(hashName(batchId), ({ batches }) => batches.find((row) => row.batch_id === batchId));

  return {
    async turn(id: string): Promise<Row | null> {
      return (await find(turnName(id), ({ turns }) => turns.find((row) => row.id === id)))?.[0] ?? null;
    },
    async hold(callId: string): Promise<Hold | null> {
      const found = await find(callName(callId), ({ holds }) => holds.find((row) => row.call_id === callId));
      return found === null ? null : holdFrom(found[0]);
    },
    async charge(id: Hex): Promise<Charge | null> {
      const found = await chargeOf(id);
      return found === null ? null : archivedCharge(found[0]);
    },
    // Those of these that have left. A block is read once, however many of them it has.
    async charges(ids: readonly Hex[]): Promise<Charge[]> {
      const wanted = new Set(ids);
      const places = new Set<bigint>();
      for (const some of chunksOf(ids, NAMES_AT_ONCE)) {
        for (const found of (await placesOf(sql, some.map(hashName))).values())
          for (const place of found) places.add(place);
        await letOthersRun();
      }
      const found = new Map<Hex, Charge>();
      for (const place of places) {
        const block = await blockAt(place);
        for (const row of block?.charges ?? []) {
          if (wanted.has(row.id as Hex)) found.set(row.id as Hex, archivedCharge(row));
        }
      }
      return [...found.values()];
    },
    async failures(chargeId: Hex): Promise<Row[]> {
      const found = await chargeOf(chargeId);
      return found === null ? [] : found[1].failures.filter((row) => row.charge_id === chargeId);
    },
    async receipts(batchId: Hex): Promise<string | null> {
      const found = await batchOf(batchId);
      return found === null ? null : String(found[0].receipts);
    },
    // Its calldata, and its signed bytes, oldest first.
    async submission(batchId: Hex): Promise<{ calldata: Hex; broadcasts: Row[] } | null> {
      const found = await batchOf(batchId);
      if (found === null) return null;
      const [, { submissions, broadcasts }] = found;
      return {
        calldata: submissions.find((row) => row.id === batchId)?.calldata as Hex,
        broadcasts: broadcasts
          .filter((row) => row.submission_id === batchId)
          .toSorted((a, b) => Number(integer(a, "position") - integer(b, "position"))),
      };
    },
    // Of one payer, in the order of a statement, from the files of that time: as many as fill the page, and more.
    async chargesOfPayer(payer: Address, query: StatementQuery): Promise<Charge[]> {
      const { fromMs, toMs, after, limit } = query;
      const place = after ?? { atMs: fromMs, id: "" };
      const startMs = Math.max(place.atMs, fromMs);
      const found: Charge[] = [];
      const isOnPage = ({ accruedAtMs, id }: Charge) =>
        accruedAtMs >= startMs && accruedAtMs < toMs && (accruedAtMs > place.atMs || id > place.id);
      const rows = await sql.all(
        "SELECT number FROM archives WHERE to_at >= $1 AND from_at < $2 AND moved > 0 ORDER BY from_at, number",
        [startMs, toMs],
      );
      for (const row of rows) {
        const archive = await archiveOf(sql, Number(row.number));
        if (archive === null) continue;
        // Whatever later files have comes after this page.
        const last = found.toSorted(byPlace)[limit - 1];
        if (last !== undefined && archive.fromMs !== null && archive.fromMs > last.accruedAtMs) break;
        const { blocks } = await files.directoryOf(archive);
        for (const [block, { firstPayer, lastPayer }] of blocks.entries()) {
          if (block >= archive.moved || firstPayer === null || lastPayer === null) continue;
          if (payer < firstPayer || payer > lastPayer) continue;
          const { charges } = await files.blockOf(archive, block);
          found.push(
            ...charges
              .filter((charge) => charge.payer === payer)
              .map(archivedCharge)
              .filter(isOnPage),
          );
        }
      }
      return found.sort(byPlace).slice(0, limit);
    },
    // Every block that has left, one after another.
    async *blocks(): AsyncGenerator<Block> {
      for await (const archive of all()) {
        for (let block = 0; block < archive.moved; block++) yield await files.blockOf(archive, block);
      }
    },
    // Files that should be in the folder and are not, or not whole. Without a folder nobody can tell.
    async *missing(): AsyncGenerator<string> {
      if (files.folder === null) return;
      for await (const { number, file, bytes } of all()) {
        const size = await files.folder.sizeOf(file);
        if (size !== bytes)
          yield `archive ${number} is missing ${file}, or a part of it; put a copy of it in its place`;
      }
    },
  };
}

// What is archived is of a final batch, or was waived.
const archivedCharge = (row: Row): Charge => chargeFrom({ ...row, submission_state: "final" });

export const byPlace = (a: Charge, b: Charge) =>
  a.accruedAtMs - b.accruedAtMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
