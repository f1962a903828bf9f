import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { PATIENCE_MS } from "./scripts/waiting/until.ts";
import { isolateEnvironment } from "./test/isolateEnvironment.ts";
import { LongestFirst } from "./test/LongestFirst.ts";

isolateEnvironment(process.env);

// Many files start a chain, a database and daemons of their own. They wait for each other more than they compute, so one
// more than there are cores run at a time, as far as there is memory for them.
const MEMORY_PER_WORKER = 1_500_000_000;
const workers = Math.min(availableParallelism() + 1, Math.floor(process.availableMemory() / MEMORY_PER_WORKER), 16);

export default defineConfig({
  test: {
    include: ["{settlement,marketplace,examples,scripts,test}/**/*.test.ts"],
    globalSetup: ["settlement/ledger/testing/postgresServer.ts", "test/local/world/templates.ts"],
    pool: "forks",
    maxWorkers: Math.max(1, workers),
    sequence: { sequencer: LongestFirst },
    // Programs that tests start over and over, such as Hardhat and the daemon, are compiled once.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "cache", "node") },
    // Whatever a test waits for ends with a sentence of its own after PATIENCE_MS. This is for what nobody thought of.
    testTimeout: 5 * PATIENCE_MS,
    hookTimeout: 5 * PATIENCE_MS,
  },
});
