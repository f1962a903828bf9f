import { globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, it } from "vitest";

const LEDGER = import.meta.dirname;
const SETTLEMENT = join(LEDGER, "..");

// What a subject may take from another, beside what all of them stand on.
const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  // A delivery that is in the archive is known by its name, and a turn may draw on a budget.
  accruals: ["archive/names.ts", "archive/places.ts", "budgets/draw.ts"],
  // What is in a file is read as whoever wrote the row reads it, and asked for by the verbs that the archive goes on with.
  archive: [
    "accruals/createAccruals.ts",
    "accruals/decode.ts",
    "accruals/recordTurn.ts",
    "reads/createReads.ts",
    "sessions/capture.ts",
    "sessions/createSessions.ts",
    "sessions/decode.ts",
    "sessions/hold.ts",
    "sessions/voidHold.ts",
    "submissions/createSubmissions.ts",
    "submissions/decode.ts",
    "submissions/receipts.ts",
  ],
  budgets: [],
  callers: [],
  // An answer goes the way of every submission.
  contests: ["operators/lease.ts", "submissions/findSubmission.ts", "submissions/plan/planSubmission.ts"],
  // A fence is made of submissions that fill nonces, and with a key what it had on its way is given up.
  operators: ["submissions/outcome/abandon.ts", "submissions/plan/planSubmission.ts"],
  // Rows are read as whoever writes them reads them.
  reads: [
    "accruals/decode.ts",
    "sessions/decode.ts",
    "submissions/adopt/takenOnChain.ts",
    "submissions/decode.ts",
    "submissions/outcome/outcomeJson.ts",
    "submissions/receipts.ts",
  ],
  // A capture makes a charge, and a hold may draw on a budget.
  sessions: ["accruals/insertCharges.ts", "archive/names.ts", "archive/places.ts", "budgets/draw.ts"],
  // A batch is made of charges, which may draw on budgets, and whoever writes for an operator shows its lease.
  // What is in the archive is known by its name.
  submissions: [
    "archive/names.ts",
    "archive/places.ts",
    "budgets/draw.ts",
    "operators/acquireLease.ts",
    "operators/home.ts",
    "operators/lease.ts",
  ],
  token: [],
  tools: [],
};
const GROUND = [/^database\//, /^validate\.ts$/, /^conflict\.ts$/, /^\.\.\/domain\//];
// What the service outside may know: the verbs, how to open a ledger, how to copy one, and how long a step of its time line is.
const FACE = ["ledger.ts", "openLedger.ts", "database/sqlite/copySqlite.ts", "database/sums/stats.ts"];

const IMPORT = /\bfrom\s*"(\.[^"]+)"|\bimport\s*\(\s*"(\.[^"]+)"\s*\)/g;
const filesIn = (folder: string) =>
  globSync("**/*.ts", { cwd: folder })
    .map((path) => join(folder, path))
    .filter((path) => !path.endsWith(".test.ts") && !path.startsWith(join(LEDGER, "testing/")));

// As paths from the ledger's folder, types included: what cannot be named cannot be leant on.
const importsOf = (file: string) =>
  [...readFileSync(file, "utf8").matchAll(IMPORT)].map(([, from, dynamic]) =>
    relative(LEDGER, join(dirname(file), from ?? dynamic ?? "")),
  );

it.each(Object.entries(SUBJECTS))("%s takes from other subjects what is declared and no more", (subject, declared) => {
  const allowed = (path: string) =>
    path.startsWith(`${subject}/`) || declared.includes(path) || GROUND.some((ground) => ground.test(path));
  const taken = filesIn(join(LEDGER, subject)).flatMap(importsOf);
  expect(taken.filter((path) => !allowed(path))).toEqual([]);
  expect(
    declared.filter((path) => !taken.includes(path)),
    "declared and not needed",
  ).toEqual([]);
});

it("the database knows nothing of what is kept in it", () => {
  const taken = filesIn(join(LEDGER, "database")).flatMap(importsOf);
  expect(taken.filter((path) => !/^(database\/|\.\.\/domain\/|\.\.\/clock\.ts$)/.test(path))).toEqual([]);
});

it("every folder is a subject, the database, or for tests", () => {
  const folders = readdirSync(LEDGER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).sort()).toEqual([...Object.keys(SUBJECTS), "database", "testing"].sort());
});

it("the rest of the service knows the ledger by its face", () => {
  const outside = filesIn(SETTLEMENT).filter((file) => relative(LEDGER, file).startsWith(".."));
  const known = outside.flatMap((file) => importsOf(file).filter((path) => !path.startsWith("..")));
  expect(outside.length).toBeGreaterThan(100);
  expect([...new Set(known)].sort()).toEqual([...FACE].sort());
});
