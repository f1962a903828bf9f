import type { ToolView } from "./toolView.ts";

type MethodView = ToolView["mcpTools"][number];

// In characters as JSON, of one tool's methods; an agent reads several tools at once, and all that it reads.
const MAX_METHODS_LENGTH = 8_000;
const MAX_DESCRIPTION = 500;

// A tool as an agent reads it that chooses one: what its methods take and cost, without what they promise and without what is
// said in pages. Methods beyond a bound are counted rather than shown.
export function compactView(tool: ToolView): ToolView {
  let left = MAX_METHODS_LENGTH;
  const shown = tool.mcpTools.map(compactMethod).filter((method) => {
    const length = JSON.stringify(method).length;
    if (length > left) return false;
    left -= length;
    return true;
  });
  const leftOut = tool.mcpTools.length - shown.length;
  return {
    ...tool,
    description: cut(tool.description),
    suggestedPrompts: [],
    mcpTools: shown,
    ...(leftOut > 0 && { methodsLeftOut: leftOut }),
  };
}

function compactMethod({
  name,
  description,
  inputSchema,
  _meta,
  executeEligible,
  executePriceUsd,
}: MethodView): MethodView {
  const { surface, queryEligible, latencyClass, contextRequirements } = _meta;
  const { executeUsd } = _meta.pricing;
  return {
    name,
    description: cut(description),
    inputSchema,
    _meta: {
      surface,
      queryEligible,
      latencyClass,
      pricing: executeUsd === undefined ? {} : { executeUsd },
      ...(contextRequirements && { contextRequirements }),
    },
    executeEligible,
    executePriceUsd,
  };
}

const cut = (text: string) =>
  text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION).toWellFormed()}…` : text;
