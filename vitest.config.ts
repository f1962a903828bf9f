import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { PATIENCE_MS } from "./scripts/waiting/until.ts";
import { ALONE } from "./test/alone.ts";
import { isolateEnvironment } from "./test/isolateEnvironment.ts";
import { LongestFirst } from "./test/LongestFirst.ts";

isolateEnvironment(process.env);
// Vitest's workers, and the programs that tests start over and over, such as Hardhat and the daemon, are compiled once.
process.env.NODE_COMPILE_CACHE = join(import.meta.dirname, "cache", "node");

// Many files start a chain, a database and daemons of their own, and wait for them as much as they compute. So three for each core
// run at a time, as far as there is memory for them.
const MEMORY_PER_WORKER = 1_500_000_000;
const workers = Math.min(3 * availableParallelism(), Math.floor(process.availableMemory() / MEMORY_PER_WORKER), 16);

const every = "{settlement,marketplace,examples,scripts,test}/**/*.test.ts";
const common = {
  pool: "forks",
  // Whatever a test waits for ends with a sentence of its own after PATIENCE_MS. This is for what nobody thought of.
  testTimeout: 5 * PATIENCE_MS,
  hookTimeout: 5 * PATIENCE_MS,
} as const;

export default defineConfig({
  test: {
    globalSetup: [
      "settlement/ledger/testing/postgresServer.ts",
      "test/local/world/templates.ts",
      "test/packages/bundlePackages.ts",
    ],
    maxWorkers: Math.max(1, workers),
    sequence: { sequencer: LongestFirst },
    projects: [
      // Most files share what they import: loading it again for each took half of their time.
      { test: { ...common, name: "shared", include: [every], exclude: ALONE, isolate: false } },
      { test: { ...common, name: "alone", include: ALONE } },
    ],
  },
});
