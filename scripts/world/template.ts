import { createHash } from "node:crypto";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { environment } from "../config/environment.ts";

export type Template = { kind: "found" | "wanted"; path: string } | { kind: "none" };

// The state of a chain with a world on it, as anvil loads it, for everybody who wants the same options during one run of
// the tests. Elsewhere there is no folder for it: what is kept longer than a run may be stale.
export function findTemplate(options: Readonly<Record<string, number | bigint | undefined>>): Template {
  if (environment.worldTemplates === undefined) return { kind: "none" };
  const known = Object.entries(options).filter(([, value]) => value !== undefined);
  const name = createHash("sha256").update(known.sort().join()).digest("hex");
  const path = join(environment.worldTemplates, `${name}.json`);
  return { kind: existsSync(path) ? "found" : "wanted", path };
}

// Two who come at the same time both build, and the later one replaces the file with its like: nobody waits for anybody
// who may have died.
export function keepTemplate(path: string, dump: string): void {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, gunzipSync(Buffer.from(dump.slice(2), "hex")));
  renameSync(own, path);
}
