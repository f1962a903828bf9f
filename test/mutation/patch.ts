import type { Change } from "./place/cutChange.ts";

// A change as git writes it, below what is known about it.
export type Patch = PatchFields & { change: Change };

export type PatchFields = {
  // A sentence about what the system then does.
  bug: string;
  // The command that runs the narrowest check that must notice.
  caughtBy: string;
  // Names in the bug that are nowhere else in its file: of a library, of another file, or its own.
  brings: readonly string[];
};

const FIELD = /^(?<name>bug|caughtBy|brings): (?<value>.+)$/;
const HUNK = /^@@ /;

export function readPatch(text: string): Patch {
  const lines = text.split("\n");
  const fields = new Map(
    lines.flatMap((line) => {
      const { name = "", value = "" } = FIELD.exec(line)?.groups ?? {};
      return name === "" ? [] : [[name, value]];
    }),
  );
  const fieldOf = (name: "bug" | "caughtBy") => {
    const value = fields.get(name);
    if (value === undefined) throw new RangeError(`it has no line that begins with "${name}: "`);
    return value;
  };
  const file = lines.find((line) => line.startsWith("--- a/"))?.slice("--- a/".length);
  if (file === undefined) throw new RangeError('it has no line that begins with "--- a/" and names a file');
  const hunks = lines.filter((line) => HUNK.test(line)).length;
  if (hunks !== 1) throw new RangeError(`it changes ${hunks} places; a bug is one change of one place`);
  const hunk = lines.slice(lines.findIndex((line) => HUNK.test(line)) + 1);
  const sideOf = (sign: "-" | "+") =>
    hunk
      .filter((line) => line.startsWith(" ") || line.startsWith(sign))
      .map((line) => `${line.slice(1)}\n`)
      .join("");
  return {
    bug: fieldOf("bug"),
    caughtBy: fieldOf("caughtBy"),
    brings: fields.get("brings")?.split(" ") ?? [],
    change: { file, before: sideOf("-"), after: sideOf("+") },
  };
}

// The patch between two versions of a file, with so many lines around what differs.
export function writePatch(
  { bug, caughtBy, brings }: PatchFields,
  { file, before, after }: Change,
  context: number,
): string {
  const old = before.split("\n");
  const now = after.split("\n");
  const shorter = Math.min(old.length, now.length);
  let from = 0;
  while (from < shorter && old[from] === now[from]) from += 1;
  let same = 0;
  while (same < shorter - from && old.at(-1 - same) === now.at(-1 - same)) same += 1;
  const above = old.slice(Math.max(0, from - context), from);
  // Behind the last line break is no line.
  const below = old.slice(old.length - same, -1).slice(0, context);
  const removed = old.slice(from, old.length - same);
  const added = now.slice(from, now.length - same);
  const start = from - above.length + 1;
  const around = above.length + below.length;
  const lines = [
    `bug: ${bug}`,
    `caughtBy: ${caughtBy}`,
    ...(brings.length === 0 ? [] : [`brings: ${brings.join(" ")}`]),
    "",
    `--- a/${file}`,
    `+++ b/${file}`,
    `@@ -${start},${around + removed.length} +${start},${around + added.length} @@`,
    ...above.map((line) => ` ${line}`),
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    ...below.map((line) => ` ${line}`),
  ];
  return `${lines.join("\n")}\n`;
}
