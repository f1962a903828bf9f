import { expect, it } from "vitest";
import { permits } from "./permits.ts";

const allowed = new Set(["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"]);

it.each([
  ["MIT", true],
  ["GPL-3.0", false],
  ["GPL-3.0 OR MIT", true],
  ["(GPL-3.0 OR MIT)", true],
  ["(MIT AND Zlib)", true],
  ["MIT AND GPL-3.0", false],
  ["(GPL-3.0 OR MIT) AND Zlib", true],
  ["(GPL-3.0 AND MIT) OR (Zlib)", true],
  ["(GPL-3.0 AND MIT) OR (GPL-2.0 AND MIT)", false],
  ["(Apache-2.0 WITH LLVM-exception)", true],
  ["Apache-2.0", false],
  ["SEE LICENSE IN LICENSE", false],
  ["", false],
])("the licence %s is permitted: %s", (expression, permitted) => {
  expect(permits(allowed, expression)).toBe(permitted);
});
