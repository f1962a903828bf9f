import { expect, it } from "vitest";
import { createNaming } from "./createNaming.ts";
import type { Listing } from "./listing.ts";

const listing = (toolId: string, name: string) => ({ toolId, name }) as Listing;

it("each name is told once, until it changes, and again after the daemon was away", async () => {
  const told: string[] = [];
  let away = true;
  const nameTools = createNaming({
    async nameTool(toolId, name) {
      if (away) throw new Error("away");
      told.push(`${toolId} ${name}`);
    },
  });
  await expect(nameTools([listing("a", "Gas")])).rejects.toThrow("away");
  away = false;
  await nameTools([listing("a", "Gas"), listing("b", "Weather")]);
  await nameTools([listing("a", "Gas"), listing("b", "Weather map")]);
  expect(told).toEqual(["a Gas", "b Weather", "b Weather map"]);
});

it("a name that the daemon would not take is shortened, without control characters and halves of letters", async () => {
  const told: string[] = [];
  const nameTools = createNaming({ nameTool: async (_, name) => void told.push(name) });
  await nameTools([listing("a", `two\nlines ${"x".repeat(200)}`), listing("b", `${"x".repeat(99)}😀`)]);
  expect(told).toEqual([`two lines ${"x".repeat(90)}`, "x".repeat(99)]);
});
