import { expect, it } from "vitest";
import { nearestOf, suggestionOf } from "./nearest.ts";

it("the name that takes the fewest letters to change was probably meant", () => {
  expect(nearestOf("get_gas", ["search", "get_gas_price", "gas"])).toBe("gas");
  expect(nearestOf("serach", ["get_gas_price", "search"])).toBe("search");
  expect(nearestOf("search", [])).toBeUndefined();
});

it("nothing is suggested to whoever wrote something else", () => {
  expect(nearestOf("foo", ["serve", "doctor", "evidence"])).toBeUndefined();
  expect(suggestionOf("foo", ["serve", "doctor"])).toBe("");
  expect(suggestionOf("docter", ["serve", "doctor"])).toBe("; did you mean doctor?");
});

it("of names without end, and of endless names, only the beginning is compared", () => {
  const many = Array.from({ length: 1_000 }, (_, i) => `method_${i}`);
  expect(nearestOf("method_999", many)).toBe("method_99");
  const long = "a".repeat(100);
  expect(nearestOf(`${long}z`, [`${"b".repeat(64)}${long}z`, `${long}other`])).toBe(`${long}other`);
});
