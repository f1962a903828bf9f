import { GUARDED_BY, LOCK_ORDER, type Lock } from "../database/transactions/lockOrder.ts";

type Guarded = keyof typeof GUARDED_BY;
type Locking = { row: Lock | Guarded; inserts: boolean; waits: boolean };

// What is looked up first is locked in the same table.
const STATEMENT =
  /^\s*(?:WITH \w+ AS MATERIALIZED\s*\([\s\S]*\)\s*(?=DELETE|UPDATE))?(?:(INSERT INTO)|(?:UPDATE|DELETE FROM|SELECT\s[\s\S]*?\sFROM))\s+(\w+)/;
const NEW: Readonly<Record<string, Lock>> = { sessions: "new sessions", holds: "new holds" };

// Which rows a statement locks, and whether it waits for whoever has them. Null if it only reads.
export function lockOf(text: string): Locking | null {
  const isSelect = /^\s*SELECT/.test(text);
  if (isSelect && !text.includes("FOR UPDATE")) return null;
  const [, insert, table] = STATEMENT.exec(isSelect ? withoutParentheses(text) : text) ?? [];
  if (table === undefined) return null;
  const inserts = insert !== undefined;
  const row = inserts ? (NEW[table] ?? table) : table;
  if (!isKnown(row)) throw new RangeError(`${row} has no place in the order of locks`);
  return { row, inserts, waits: !text.includes("SKIP LOCKED") };
}

// What is only looked at stands in parentheses.
function withoutParentheses(text: string): string {
  const shorter = text.replaceAll(/\([^()]*\)/g, "");
  return shorter === text ? text : withoutParentheses(shorter);
}

// What is wrong with the order in which a transaction's statements lock their rows: nothing, always. Rows of a kind that was
// locked before are taken for the same ones: that they are is what interleaved transactions show.
export function misorderedIn(statements: readonly string[]): string[] {
  const held = new Set<Lock>();
  const found: string[] = [];
  for (const text of statements) {
    const lock = lockOf(text);
    if (lock === null) continue;
    const { row, inserts, waits } = lock;
    if (isGuarded(row)) {
      const guard = GUARDED_BY[row];
      const guards: readonly Lock[] = guard === "insert" ? ["archives"] : [guard, "operators"];
      const isGuardHeld = guards.some((lock) => held.has(lock));
      if (!isGuardHeld && !(inserts && (guard === "insert" || row === "charges")))
        found.push(`${row} without ${guard}`);
      continue;
    }
    const later = [...held].find((other) => LOCK_ORDER.indexOf(other) > LOCK_ORDER.indexOf(row));
    if (!held.has(row) && waits && later !== undefined) found.push(`${row} after ${later}`);
    held.add(row);
  }
  return found;
}

const isGuarded = (row: string): row is Guarded => Object.hasOwn(GUARDED_BY, row);
const isKnown = (row: string): row is Lock | Guarded => isGuarded(row) || LOCK_ORDER.includes(row as Lock);
