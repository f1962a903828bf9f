import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["settlement/**/*.test.ts", "test/{commands,local,mutation,simulator}/**/*.test.ts"],
    globalSetup: ["settlement/ledger/testing/postgresServer.ts"],
    pool: "forks",
    // Many files start a chain or a database of their own. Two at a time are enough for a small machine.
    maxWorkers: 2,
    // Tests that walk through a chain's days run whole programs; the others take milliseconds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
