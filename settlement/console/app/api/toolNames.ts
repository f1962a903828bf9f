import type { ToolRow } from "./answers.ts";
import { ask } from "./ask.ts";

const EVERY_MS = 60_000;
const MOST = 1_000;
const names = new Map<string, string>();

export const nameOfTool = (toolId: string): string | undefined => names.get(toolId);

// What the platform calls its tools, for every page that mentions one. Without an answer they are shown by their ids.
export async function watchToolNames(): Promise<void> {
  setInterval(() => void read(), EVERY_MS);
  await read();
}

async function read(): Promise<void> {
  // Nobody looks.
  if (document.hidden) return;
  const { tools } = await ask<{ tools: ToolRow[] }>(`/v1/tools?limit=${MOST}`).catch(() => ({ tools: [] }));
  for (const { toolId, name } of tools) if (name !== null) names.set(toolId, name);
}
