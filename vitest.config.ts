import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["settlement/**/*.test.ts", "test/{commands,local,simulator}/**/*.test.ts"],
    globalSetup: ["settlement/ledger/testing/postgresServer.ts"],
    pool: "forks",
    maxWorkers: 2,
    // A test may start a chain of its own.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
