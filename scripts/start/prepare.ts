import type { StartOptions } from "./options.ts";
import { takePort } from "./ports.ts";
import { type Lock, takeLock } from "./state/lock.ts";
import { clear, hasStack, openStateFolder, type StateFolder } from "./state/stateFolder.ts";

export type Place = {
  paths: StateFolder;
  lock: Lock;
  // Whether there is a stack to go on with.
  continued: boolean;
  port: number;
  marketplacePort: number;
  rpcPort: number;
};

// Finds the folder and the ports, and refuses what cannot work, before anything is started.
export async function prepare(options: StartOptions, onLock: (lock: Lock) => void): Promise<Place> {
  const { folder, reset } = options;
  const paths = openStateFolder(folder);
  const lock = takeLock(paths.lock, folder);
  onLock(lock);
  // The node takes a free port by itself and says which.
  const rpcPort = options.rpcPort === 0 ? 0 : await takePort("--rpc-port", options.rpcPort);
  const port = await takePort("--port", options.port, [rpcPort]);
  const marketplacePort = await takePort("--marketplace-port", options.marketplacePort, [rpcPort, port]);
  if (reset) clear(paths);
  const continued = hasStack(paths, folder);
  // What a first start left behind that did not come to its end.
  if (!continued) clear(paths);
  return { paths, lock, continued, port, marketplacePort, rpcPort };
}
