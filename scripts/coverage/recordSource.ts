import { mkdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { SolidityHooks } from "hardhat/types/hooks";
import { type Condition, wrapConditions } from "./wrapConditions.ts";

// What can be hit in one source file. Hits are reported by tag.
export type SourceRecord = { path: string; statements: string[]; conditions: Condition[] };

export const RECORDS_FOLDER = join("coverage", "sources");

// How Hardhat's instrumented sources report that a statement ran.
const STATEMENT_HIT = /__NomicFoundationCoverage\.sendHit\(0x([0-9a-f]{64})\)/g;

// Takes each source as Hardhat has instrumented it, notes its statements, instruments its conditions as well, and leaves
// a record for the report. Hardhat keeps no such record, and its lcov file has lines only.
export default async (): Promise<Partial<SolidityHooks>> => ({
  preprocessProjectFileBeforeBuilding: async (context, sourceName, fsPath, content, solcVersion, next) => {
    const instrumented = await next(context, sourceName, fsPath, content, solcVersion);
    const statements = Array.from(instrumented.matchAll(STATEMENT_HIT), ([, tag]) => tag ?? "");
    if (!context.globalOptions.coverage || statements.length === 0) return instrumented;

    const path = relative(context.config.paths.root, fsPath);
    const { source, conditions } = wrapConditions(path, instrumented);
    const record: SourceRecord = { path, statements, conditions };
    await mkdir(RECORDS_FOLDER, { recursive: true });
    await writeFile(join(RECORDS_FOLDER, `${path.replaceAll(/[\\/]/g, "_")}.json`), JSON.stringify(record));
    return source;
  },
});
