// What tools have answered is in memory for as long as a turn lasts, which is minutes. All turns together have one bound, and nobody has
// more than a share of it.
export type Memory = {
  open(account: string): Held;
  // Of everybody's.
  bytes(): number;
};

// What one turn holds.
export type Held = {
  // Null if there was room, and it is taken; else why there is none.
  hold(text: string, value: unknown): string | null;
  // Gives everything back.
  close(): void;
};

export type MemoryOptions = { maxBytes: number; maxBytesOfAccount: number; maxBytesOfTurn: number };

const MIB = 1024 * 1024;
export const MEMORY: MemoryOptions = { maxBytes: 512 * MIB, maxBytesOfAccount: 128 * MIB, maxBytesOfTurn: 64 * MIB };

// What a number, a text or a list takes beside its characters, as good as anybody can say. A megabyte of short numbers is many of them.
const VALUE_BYTES = 64;

// Counted and not measured: what an engine takes for a value is its own affair, and what is counted is the same on every machine.
export function createMemory({ maxBytes, maxBytesOfAccount, maxBytesOfTurn }: MemoryOptions = MEMORY): Memory {
  const accounts = new Map<string, number>();
  let total = 0;

  function change(account: string, bytes: number): void {
    total += bytes;
    const left = (accounts.get(account) ?? 0) + bytes;
    if (left === 0) accounts.delete(account);
    else accounts.set(account, left);
  }

  return {
    open(account) {
      let own = 0;
      return {
        hold(text, value) {
          const bytes = text.length + VALUE_BYTES * countValues(value, maxBytesOfTurn / VALUE_BYTES);
          if (own + bytes > maxBytesOfTurn) return "it answered more than a turn can hold";
          if ((accounts.get(account) ?? 0) + bytes > maxBytesOfAccount) {
            return "it answered more than the questions of this account can hold together; wait for some of them, and ask again";
          }
          if (total + bytes > maxBytes) {
            return "it answered more than there is room for while so many questions are asked; ask again in a minute";
          }
          own += bytes;
          change(account, bytes);
          return null;
        },
        close() {
          change(account, -own);
          own = 0;
        },
      };
    },
    bytes: () => total,
  };
}

// How many values there are in one, itself included; of more than `most` only that there are more.
function countValues(value: unknown, most: number): number {
  let count = 0;
  const left: unknown[] = [value];
  while (left.length > 0 && count <= most) {
    const next = left.pop();
    count += 1;
    if (typeof next !== "object" || next === null) continue;
    // One after the other: a call with a million arguments is none.
    for (const inner of Array.isArray(next) ? next : Object.values(next)) left.push(inner);
  }
  return count;
}
