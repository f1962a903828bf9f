import { type Lock, takeLock } from "./lock.ts";
import type { StartOptions } from "./options.ts";
import { takePort } from "./ports.ts";
import { clear, hasStack, openStateFolder, type StateFolder } from "./stateFolder.ts";

export type Place = {
  paths: StateFolder;
  lock: Lock;
  // Whether there is a stack to go on with.
  continued: boolean;
  port: number;
  rpcPort: number;
};

// Finds the folder and the ports, and refuses what cannot go well, before anything is started.
export async function prepare(options: StartOptions, onLock: (lock: Lock) => void): Promise<Place> {
  const { folder, reset } = options;
  const paths = openStateFolder(folder);
  const lock = takeLock(paths.lock, folder);
  onLock(lock);
  const rpcPort = await takePort("--rpc-port", options.rpcPort);
  const port = await takePort("--port", options.port);
  if (reset) clear(paths);
  const continued = hasStack(paths, folder);
  // What a first start left behind that did not come to its end.
  if (!continued) clear(paths);
  return { paths, lock, continued, port, rpcPort };
}
