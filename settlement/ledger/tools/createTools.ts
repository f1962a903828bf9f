import type { Runner } from "../database/transactions/createRunner.ts";
import { findToolName } from "./findToolName.ts";
import { listToolNames } from "./listToolNames.ts";
import { nameTool } from "./nameTool.ts";

export type Tools = ReturnType<typeof createTools>;

// What tools are called.
export function createTools({ shared, read }: Runner) {
  return { nameTool: shared(nameTool), findToolName: read(findToolName), listToolNames: read(listToolNames) };
}
