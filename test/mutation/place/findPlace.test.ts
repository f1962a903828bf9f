import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readCode } from "../readCode.ts";
import { readMutations } from "../readMutations.ts";
import type { Change } from "./cutChange.ts";
import { createSource, findPlace, type Source } from "./findPlace.ts";
import { tokenize } from "./tokenize.ts";

const HOLD = `
export async function hold(tx: Tx, call: Call, nowMs: number): Promise<Outcome> {
  const session = await findSession(tx, call.sessionId);
  // A session that ran out takes no more.
  if (session.expiresAtMs <= nowMs || session.budget < call.amount) return refused(session);
  await tx.run("UPDATE sessions SET held = held + $2 WHERE id = $1 AND held <= budget", [session.id, call.amount]);
  return { kind: "held", session };
}
`;
const change: Change = {
  file: "hold.ts",
  before: `
  const session = await findSession(tx, call.sessionId);
  if (session.expiresAtMs <= nowMs || session.budget < call.amount) return refused(session);
  await tx.run("UPDATE sessions SET held = held + $2 WHERE id = $1 AND held <= budget", [session.id, call.amount]);
`,
  after: `
  const session = await findSession(tx, call.sessionId);
  if (session.budget < call.amount) return refused(session);
  await tx.run("UPDATE sessions SET held = held + $2 WHERE id = $1 AND held <= budget", [session.id, call.amount]);
`,
};

describe("a change is put", () => {
  it("where its lines are, word for word", () => {
    expect(applied(change, [createSource("hold.ts", HOLD)])).toBe(
      HOLD.replace("session.expiresAtMs <= nowMs || session", "session"),
    );
  });

  it("with the names of today", () => {
    const now = HOLD.replaceAll("session.", "known.").replaceAll("const session", "const known");
    const text = now.replaceAll("(session)", "(known)").replaceAll("amount", "price");
    expect(applied(change, [createSource("hold.ts", text)])).toContain(
      "  if (known.budget < call.price) return refused(known);",
    );
  });

  it("with a renamed column in its SQL", () => {
    const sql = { ...change, after: change.before.replace(" AND held <= budget", " AND held >= 0") };
    const text = HOLD.replaceAll("held ", "reserved ");
    expect(applied(sql, [createSource("hold.ts", text)])).toContain("WHERE id = $1 AND reserved >= 0");
  });

  it("whatever the formatting and the comments are", () => {
    const text = `${HOLD.replaceAll(" || ", "\n      ||\n      // Both count.\n      ").replaceAll(", [", ",\n    [")}`;
    const result = applied(change, [createSource("hold.ts", text.replace("call.amount]", "call.amount,\n    ]"))]);
    expect(wordsOf(result)).toBe(wordsOf(HOLD.replace("session.expiresAtMs <= nowMs || session", "session")));
  });

  it("into the file that the code was moved to", () => {
    const sources = [createSource("hold.ts", "export const nothing = 1;"), createSource("sessions/hold.ts", HOLD)];
    expect(findPlace(change, sources).source.file).toBe("sessions/hold.ts");
  });

  it("where most lines agree, if it looks like it could be put into several places", () => {
    const other = HOLD.replace("findSession(tx, call.sessionId)", "sessionOf(call)").replace("hold(", "reserve(");
    const { source, from } = findPlace(change, [createSource("hold.ts", `${other}${HOLD}`)]);
    expect(from).toBeGreaterThan(other.length);
    expect(source.file).toBe("hold.ts");
  });

  it("where a part of its lines is, if the others have changed", () => {
    const text = HOLD.replace(/ {2}const session = .*\n/, "").replace(/ {2}await tx.run.*\n/, "  tx.hold(call);\n");
    expect(applied(change, [createSource("hold.ts", text)])).toContain(
      "  if (session.budget < call.amount) return refused(session);",
    );
  });

  it("behind the comment that stands before it", () => {
    const removed = { ...change, after: change.before.replace(/ {2}if .*\n/, "") };
    expect(applied(removed, [createSource("hold.ts", HOLD)])).toContain("takes no more.\n  await tx.run(");
  });

  it("nowhere if the code is gone, even though other code has its form", () => {
    const text = `
export async function list(page: Page, query: Query, limit: number): Promise<Answer> {
  const found = await search(page, query.words);
  if (found.total <= limit || found.pages < query.page) return nothing(found);
}`;
    expect(() => findPlace(change, [createSource("hold.ts", text)])).toThrow("is nowhere any more; it was in hold.ts");
    expect(() => findPlace(change, [])).toThrow("is nowhere any more");
  });

  it("nowhere if it belongs into two places alike, and names both", () => {
    expect(() => findPlace(change, [createSource("hold.ts", `${HOLD}${HOLD}`)])).toThrow(
      "is at hold.ts:5 and at hold.ts:13; add lines that tell them apart",
    );
    const copies = [createSource("a.ts", HOLD), createSource("b.ts", HOLD)];
    expect(() => findPlace(change, copies)).toThrow("is at a.ts:5 and at b.ts:5");
    expect(findPlace({ ...change, file: "b.ts" }, copies).source.file).toBe("b.ts");
  });

  it("nowhere if two names became one", () => {
    const text = HOLD.replaceAll("session.budget", "session.expiresAtMs");
    expect(() => findPlace(change, [createSource("hold.ts", text)])).toThrow("is nowhere any more");
  });

  it("nowhere if a number or an operator is another one", () => {
    const text = HOLD.replace("<= nowMs", "< nowMs");
    expect(() => findPlace(change, [createSource("hold.ts", text)])).toThrow("is nowhere any more");
  });

  it("nowhere if it changes nothing", () => {
    expect(() => findPlace({ ...change, after: change.before }, [])).toThrow("it changes nothing");
  });
});

// The patches of this repository, against code that was moved, formatted otherwise and renamed.
describe("every mutation of this repository survives", () => {
  const root = join(import.meta.dirname, "../../..");
  const { sources } = readCode(root);
  const mutations = readMutations(root);

  it.each(mutations)("a refactoring: $bug", ({ change }) => {
    const place = findPlace(change, sources);
    const names = rename(change);
    const refactored = sources.map((source) => (source === place.source ? refactor(source, names) : source));
    const expected = refactor(createSource(place.source.file, textOf(place)), names);
    expect(wordsOf(applied(change, refactored))).toBe(wordsOf(expected.text));
  });

  // Every third of the names that the lines have.
  function rename({ before }: Change): Map<string, string> {
    const names = new Set(tokenize(before).flatMap(({ kind, text }) => (kind === "name" ? [text] : [])));
    return new Map([...names].filter((_, i) => i % 3 === 0).map((name) => [name, `${name}Renamed`]));
  }

  // One token a line, in a file of another name.
  function refactor({ file, tokens }: Source, names: ReadonlyMap<string, string>): Source {
    return createSource(`moved/${file}`, tokens.map(({ text }) => names.get(text) ?? text).join("\n"));
  }
});

function applied(change: Change, sources: readonly Source[]): string {
  return textOf(findPlace(change, sources));
}

function textOf({ source, from, to, text }: ReturnType<typeof findPlace>): string {
  return source.text.slice(0, from) + text + source.text.slice(to);
}

function wordsOf(text: string): string {
  return tokenize(text)
    .map((token) => token.text)
    .join(" ");
}
