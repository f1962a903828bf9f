import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { systemClock } from "../../clock.ts";
import { createMetrics } from "./metrics.ts";

it("the dashboard asks for no metric that the daemon does not have", async () => {
  const dashboard = readFileSync(new URL("../../../docs/grafana.json", import.meta.url), "utf8");
  const asked = new Set(dashboard.match(/settlement_\w+/g)?.map((name) => name.replace(/_(bucket|sum|count)$/, "")));
  const printed = await createMetrics(systemClock).print();
  const known = new Set([...printed.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  expect(asked.size).toBeGreaterThan(10);
  expect([...asked].filter((name) => !known.has(name))).toEqual([]);
});
