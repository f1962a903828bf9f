import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

// Hardhat keeps its keystore under the user's home folder and does not start without one. In a container that runs as
// some other user there is none that can be written; then it is kept with the rest of what `npm start` leaves here.
export function ensureHome(environment: NodeJS.ProcessEnv): void {
  if (environment.XDG_CONFIG_HOME !== undefined || isWritable(homedir())) return;
  const folder = resolve(".local", "home");
  environment.XDG_CONFIG_HOME = join(folder, "config");
  environment.XDG_DATA_HOME = join(folder, "data");
  environment.XDG_CACHE_HOME = join(folder, "cache");
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
