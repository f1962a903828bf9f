import { SettlementError } from "../../domain/errors.ts";
import { count, text } from "../database/decode.ts";
import { lockOperators } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { interruptOperators } from "./lease.ts";

// Where it is noted to be, and the time there, if the database has a clock of its own.
export type HomeCheck = ({ kind: "same" } | { kind: "moved"; from: string; to: string }) & {
  nowMs: number | null;
  // As it is noted from now on.
  home: string;
};

// The time where the ledger is, or null if the database has no clock of its own.
export function readClock() {
  return async (tx: Tx): Promise<number | null> => {
    const [clock] = tx.hasOwnClock ? await tx.all(`SELECT ${tx.now} AS now`) : [];
    return clock === undefined ? null : count(clock, "now");
  };
}

// Where the ledger is. If that is not where it was, it is a copy, or a standby that took over, and may lack what was signed
// last: every key is fenced off before anything is planned, and whoever is in the middle of a tick changes nothing more in it.
export function noteHome() {
  return async (tx: Tx): Promise<HomeCheck> => {
    const nowMs = await readClock()(tx);
    const { here, written } = homeOf(tx);
    const read = async () => {
      const [row] = await tx.all(`SELECT home, ${here} AS here, ${tx.home} AS place FROM homes`);
      return row && { known: text(row, "home"), here: text(row, "here"), place: text(row, "place") };
    };
    const found = await read();
    if (found === undefined) {
      await tx.run(`INSERT INTO homes (id, home, moved) VALUES (1, ${written}, 0) ON CONFLICT DO NOTHING`);
      return { kind: "same", nowMs, home: await readHome(tx) };
    }
    if (found.known === found.here) return { kind: "same", nowMs, home: found.known };
    await lockOperators(tx);
    // Another daemon may have noticed as well, and been first.
    const now = await read();
    if (now !== undefined && now.known === now.here) return { kind: "same", nowMs, home: now.known };
    await move(tx);
    return { kind: "moved", from: found.known, to: found.place, nowMs, home: await readHome(tx) };
  };
}

// For a person who knows what nothing here shows: that the ledger was taken back to an earlier moment of itself, as by a snapshot of
// the whole disk.
export function fenceOff() {
  return async (tx: Tx): Promise<void> => {
    await lockOperators(tx);
    const { written } = homeOf(tx);
    await tx.run(`INSERT INTO homes (id, home, moved) VALUES (1, ${written}, 1) ON CONFLICT DO NOTHING`);
    await move(tx);
  };
}

async function move(tx: Tx): Promise<void> {
  // Of a retired key nothing can be settled, whatever was forgotten.
  await tx.run("UPDATE operators SET fence = -1 WHERE retired = 0");
  await interruptOperators(tx);
  await tx.run(`UPDATE homes SET home = ${homeOf(tx).written}, moved = 1`);
}

async function readHome(tx: Tx): Promise<string> {
  const [row] = await tx.all("SELECT home FROM homes");
  return text(row ?? {}, "home");
}

// Whether the ledger is where it was noted to be, and has been since.
export async function requireHome(tx: Tx, home: string): Promise<void> {
  const [row] = await tx.all(`SELECT ${isHere(tx)} AS here FROM homes WHERE home = $1`, [home]);
  if (row !== undefined && count(row, "here") === 1) return;
  throw new SettlementError("fenced", "the ledger is not where it was when the look began; nothing was changed");
}

// An expression that is 1 while the ledger is where it was when that was noted, or if nobody has noted it yet.
export const isHere = (tx: Tx): string =>
  `CASE WHEN EXISTS (SELECT 1 FROM homes WHERE home <> ${homeOf(tx).here}) THEN 0 ELSE 1 END`;

// Whoever plans asks in the transaction that does it: a tick that has begun on another server may go on here, on a ledger that does
// not know what the tick has signed.
export async function requireOpen(tx: Tx): Promise<void> {
  const [row = {}] = await tx.all(
    `SELECT (SELECT COUNT(*) FROM operators WHERE fence <> 0) AS fences,
       (SELECT COUNT(*) FROM halts WHERE reason IS NOT NULL) AS halts`,
  );
  if (count(row, "halts") > 0) throw new SettlementError("fenced", "settlement is halted; nothing was planned");
  if (count(row, "fences") > 0) {
    throw new SettlementError("fenced", "a key is fenced off until its nonces are final; nothing was planned");
  }
}

// What a row says of itself that it does not say once it was brought back from a dump into the same database: the transaction that
// wrote it. A file has no such thing; what `backup` copies is marked instead.
function homeOf({ home, locks }: Tx): { here: string; written: string } {
  if (locks.forUpdate === "") return { here: home, written: home };
  return {
    here: `${home} || ', written in ' || homes.xmin::text`,
    written: `${home} || ', written in ' || pg_current_xact_id()::xid::text`,
  };
}
