import fc from "fast-check";
import { expect, it } from "vitest";
import { toolIdFromUuid, uuidFromToolId } from "./toolId.ts";

it("a UUID and the 16 bytes on chain are the same digits", () => {
  expect(toolIdFromUuid("0190A1B2-c3d4-8e5f-9a6b-7c8d9e0f1a2b")).toBe("0x0190a1b2c3d48e5f9a6b7c8d9e0f1a2b");
  expect(uuidFromToolId("0x0190a1b2c3d48e5f9a6b7c8d9e0f1a2b")).toBe("0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b");
});

it("every UUID comes back as it went in", () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      expect(uuidFromToolId(toolIdFromUuid(uuid))).toBe(uuid);
    }),
  );
});

it.each(["", "0190a1b2c3d48e5f9a6b7c8d9e0f1a2b", "0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2g", "not a tool"])(
  'refuses "%s" and shows how a tool is written',
  (text) => {
    expect(() => toolIdFromUuid(text)).toThrow(/is not a tool; write its UUID, like/);
  },
);

it("refuses an id that is not 16 bytes long", () => {
  expect(() => uuidFromToolId("0x01")).toThrow("0x01 is not a tool id; one has 16 bytes");
});
