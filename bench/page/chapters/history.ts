import type { measureHistory } from "../../history/measureHistory.ts";
import { chapter } from "../chapter.ts";
import { exact, table, whole } from "../table.ts";

type Measured = Awaited<ReturnType<typeof measureHistory>>;

export const history = chapter<Measured>({
  name: "history",
  command: "history --large",
  measure: async () => (await import("../../history/measureHistory.ts")).measureHistory({ large: true }),
  text: ({ points }) => `## With a long history

What every call, tick and page does on SQLite, in milliseconds, beside settled charges that are still in the ledger, with the same 10,000 charges due. \`audit\` reads everything, in a thread of its own. What is blocked is the longest for which the process could serve nobody.

${table(
  ["name", ...points.map(({ charges }) => `${whole(charges)} charges`)],
  Object.keys(points[0] ?? {})
    .filter((name) => name !== "charges")
    .map((name) => [`\`${name}\``, ...points.map((point) => exact(point[name as keyof typeof point]))]),
)}`,
});
