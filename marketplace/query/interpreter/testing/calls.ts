import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Listing, Method } from "../../../registry/listing.ts";
import type { Output } from "../../turn/createCaller.ts";

// What a tool has answered, as a turn keeps it.
export function outputOf(alias: string, value: unknown): Output {
  const text = JSON.stringify(value);
  const listing = { toolId: "tool", name: "Tool" } as unknown as Listing;
  const method = { name: alias } as unknown as Method;
  return { alias, listing, method, args: {}, value, text, atMs: 0, durationMs: 0 };
}

// A call that declares what it makes.
export const callOf = (
  code: string,
  expectedArtifacts: readonly string[] = [],
  inputs: Record<string, string> = {},
) => ({
  code,
  inputs,
  postProcessingContract: { operation: "compute", reason: "the test wants it", inputAliases: [], expectedArtifacts },
});

// A program on the path of whoever runs the tests; null where there is none.
export function findProgram(name: string, path = ""): string | null {
  for (const folder of path.split(delimiter)) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // Not in this one.
    }
  }
  return null;
}
