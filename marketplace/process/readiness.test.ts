import { expect, it } from "vitest";
import { createReadiness } from "./readiness.ts";

it("a crowd that asks at once is told what the first one was, and asks nobody else", async () => {
  const asked = { database: 0, settlement: 0, chain: 0 };
  const count = (part: keyof typeof asked) => async () => {
    asked[part] += 1;
    if (part === "chain") throw new Error("no endpoint answered");
  };
  const failures: unknown[] = [];
  const readiness = createReadiness(
    { database: count("database"), settlement: count("settlement"), chain: count("chain") },
    (part, error) => failures.push([part, error]),
  );
  const reports = await Promise.all(Array.from({ length: 100 }, readiness));
  for (const { ready, components } of reports) {
    expect([ready, components.chain]).toEqual([false, { ok: false, reason: "it failed; the log says why" }]);
  }
  expect(failures).toEqual([["chain", new Error("no endpoint answered")]]);
  expect(asked).toEqual({ database: 1, settlement: 1, chain: 1 });
});
