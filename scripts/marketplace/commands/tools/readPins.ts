import { hashJson } from "../../../../marketplace/toolkit/index.ts";
import type { Deployment } from "../../../command/openDeployment.ts";
import type { Row } from "../../../command/output.ts";
import { printable } from "../../../command/printable.ts";

type Promising = { name: string; outputSchema?: unknown };

// What a method promises at the marketplace, and whether that is what its owner has pinned on chain.
export type Pin = { method: string; schemaHash: string; pinned: "served" | "other" | "none" };

const NO_HASH = `0x${"0".repeat(64)}`;

// Of each method that promises anything. The court holds a tool to what is pinned, whatever its server says meanwhile.
export function readPins(
  { schemaCourt }: Pick<Deployment, "schemaCourt">,
  toolId: string,
  methods: readonly Promising[],
): Promise<Pin[]> {
  const promising = methods.filter(({ outputSchema }) => outputSchema !== undefined);
  return Promise.all(
    promising.map(async ({ name, outputSchema }): Promise<Pin> => {
      const schemaHash = hashJson(outputSchema);
      const last = await schemaCourt.lastSchema(toolId, name);
      return { method: name, schemaHash, pinned: last === schemaHash ? "served" : last === NO_HASH ? "none" : "other" };
    }),
  );
}

const SAID = {
  served: "what it promises is pinned on chain",
  other: "another promise is pinned on chain than the one that is served",
  none: "what it promises is not pinned on chain",
} as const;

// A row for each method, and below one that is not pinned the command that pins it.
export function rowsOfPins(uuid: string, pins: readonly Pin[]): Row[] {
  return pins.flatMap(({ method, pinned }): Row[] => {
    const row: Row = ["schema", `${printable(method)}: ${SAID[pinned]}`];
    return pinned === "served" ? [row] : [row, ["pin it", pinCommand(uuid, method)]];
  });
}

// The file is the owner's to write: it holds the method's outputSchema.
function pinCommand(uuid: string, method: string): string {
  const name = printable(method);
  const quoted = /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;
  return `npx hardhat pin-schema ${uuid} --method ${quoted} --schema <file with its outputSchema>`;
}
