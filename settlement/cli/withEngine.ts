import { type Config, policyOf, readConfig } from "../config.ts";
import { openEngine } from "../openEngine.ts";
import type { Output } from "./command.ts";

export type Opened = Awaited<ReturnType<typeof openEngine>> & { config: Config };

// The engine of the configuration for one command. Without keys it can look and not act.
export async function withEngine<T>(
  { environment }: Output,
  { keys }: { keys: boolean },
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const config = readConfig(environment);
  const opened = await openEngine({
    ...config,
    keys: keys ? config.keys : [],
    policy: policyOf(config),
    // Its own name, so that it never takes a running daemon's lease for its own.
    holder: `${config.holder} command ${process.pid}`,
  });
  try {
    return await work({ ...opened, config });
  } finally {
    await opened.close();
  }
}
