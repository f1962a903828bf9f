import { readArguments, UsageError } from "../../settlement/cli/readArguments.ts";
import { GROUPS, type Group } from "./check.ts";

// What of the checks is wanted: those of a group, or all of them; and the files to which service tests are limited.
export type Wanted = { group: Group | null; filters: readonly string[] };

export function readGroup(args: string[]): Wanted {
  const { positionals } = readArguments({ args, options: {}, allowPositionals: true });
  const [name, ...filters] = positionals;
  if (name === undefined) return { group: null, filters };
  const group = GROUPS.find((one) => one === name);
  if (group === undefined) throw new UsageError(`there is no group ${name}`);
  if (filters.length > 0 && group !== "service") throw new UsageError("only service tests can be limited to files");
  return { group, filters };
}
