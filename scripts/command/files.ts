import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { CommandError } from "./CommandError.ts";

// Says what is wrong with a file that is to be written, before anything else is done. `isOurs` tells whether one that is there
// already may be replaced.
export function requireWritable(option: string, path: string, isOurs: (path: string) => boolean): void {
  if (path === "") throw new CommandError(`${option} is empty: name the file to write`);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    if (statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) return;
    throw new CommandError(
      `${option} is ${path}, and there is no folder ${dirname(path)}: make it or name another file`,
    );
  }
  if (!found.isFile()) throw new CommandError(`${option} is ${path}, which is not a file: name one`);
  if (!isOurs(path)) throw new CommandError(`${option} is ${path}, which holds something else: name a new file`);
}

export function requireFile(path: string, wayOut: string): void {
  if (!existsSync(path)) throw new CommandError(`there is no file ${path}: ${wayOut}`);
  if (!statSync(path).isFile()) throw new CommandError(`${path} is not a file: ${wayOut}`);
}
