import { expect, it } from "vitest";
import { decimals } from "./app/page/format.ts";

it.each([
  ["9.997045796523824202", "9.997045"],
  ["0.000000999", "0"],
  ["1234.5", "1,234.5"],
  ["3.000000", "3"],
  ["0", "0"],
])("shows no more than there is of %s", (amount, shown) => {
  expect(decimals(amount, 6)).toBe(shown);
});
