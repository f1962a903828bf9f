import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestFile } from "./locateCheck.ts";
import { createSource, type Source } from "./place/findPlace.ts";

const FOLDERS = ["contracts", "marketplace", "scripts", "settlement"];
const TESTED_IN = ["test", ...FOLDERS];

// What bugs can be put into, and what can notice them.
export type Code = { sources: readonly Source[]; tests: readonly TestFile[] };

export function readCode(root: string): Code {
  const read = (folders: readonly string[], ends: string) =>
    globSync(`{${folders.join(",")}}/**/*.${ends}`, { cwd: root }).map((file) => ({
      file,
      text: readFileSync(join(root, file), "utf8"),
    }));
  const sources = read(FOLDERS, "{ts,sol,js}").filter(({ file }) => !file.endsWith(".test.ts"));
  return { sources: sources.map(({ file, text }) => createSource(file, text)), tests: read(TESTED_IN, "ts") };
}
