import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["settlement/**/*.test.ts", "test/{commands,local}/**/*.test.ts"],
    // Tests that walk through a chain's days start a node and run whole programs; the others take milliseconds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Every file starts a node of its own. Two at a time are enough for a small machine.
    maxWorkers: 2,
  },
});
