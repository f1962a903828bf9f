import type { ServerResponse } from "node:http";

// With which a server says as which tools it is sold: their ids, with commas between them. Whoever lists its address as another tool
// is refused.
export const TOOL_ID_HEADER = "x-context-tool-id";

export function nameTool(response: ServerResponse, toolId: string | undefined): void {
  if (toolId !== undefined) response.setHeader(TOOL_ID_HEADER, toolId);
}
