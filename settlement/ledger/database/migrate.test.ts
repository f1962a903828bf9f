import { expect, it } from "vitest";
import { migrationsOf } from "./migrate.ts";

// Of two with one number, as two branches may bring them, the second would never be applied.
it("migrations are numbered one after another", () => {
  const numbers = migrationsOf().map(({ number }) => number);
  expect(numbers).toEqual(numbers.map((_, i) => i + 1));
});
