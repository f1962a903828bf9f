import { expect, it } from "vitest";
import { shapeOf } from "./shapeOf.ts";

it.each([
  ["Chain data", "Сhain dаta"],
  ["Chain data", "CHAIN  DATA"],
  ["Chain data", "Chain-data."],
  ["Chain data", "Ｃhain ｄata"],
  ["Chain data", "𝗖𝗵𝗮𝗶𝗻 𝗱𝗮𝘁𝗮"],
  ["Chain data", "Chàin dátą"],
  ["Chain data", "Chaın data"],
  ["Oil prices", "0iI prlces"],
  ["Market", "Rnarket".replace("R", "r")],
  ["Weather", "VVeather"],
  ["ΕΤΗ", "ETH"],
])("%s and %s look alike", (name, other) => {
  expect(shapeOf(other)).toBe(shapeOf(name));
});

it.each([
  ["Chain data", "Chain dates"],
  ["Gas prices", "Gas price"],
  ["天気", "天氣象"],
  ["Погода", "Природа"],
])("%s and %s do not", (name, other) => {
  expect(shapeOf(other)).not.toBe(shapeOf(name));
});
