import { describe, expect, it } from "vitest";
import { InvalidToolIdError, toolIdFromUuid, uuidFromToolId } from "./toolId.ts";

const uuid = "3f2a9c1e-0b7d-8c45-9e10-5a6b7c8d9e0f";
const toolId = "0x3f2a9c1e0b7d8c459e105a6b7c8d9e0f";

describe("toolId", () => {
  it("a UUID and its 16 bytes are the same digits in the same order", () => {
    expect(toolIdFromUuid(uuid)).toBe(toolId);
    expect(uuidFromToolId(toolId)).toBe(uuid);
  });

  it("capital letters name the same tool", () => {
    expect(toolIdFromUuid(uuid.toUpperCase())).toBe(toolId);
  });

  it.each(["", toolId, `${uuid} `, uuid.replaceAll("-", ""), `{${uuid}}`, uuid.slice(1), `${uuid}0`])(
    "%j is no UUID",
    (text) => {
      expect(() => toolIdFromUuid(text)).toThrow(InvalidToolIdError);
    },
  );

  it.each(["", uuid, toolId.slice(2), `${toolId}00`, `${toolId.slice(0, -1)}g`])("%j is no on-chain id", (text) => {
    expect(() => uuidFromToolId(text)).toThrow(InvalidToolIdError);
  });
});
