import { existsSync } from "node:fs";
import { type Config, policyOf, readConfig } from "../config.ts";
import { SettlementError } from "../domain/errors.ts";
import { isPostgres } from "../domain/text/isPostgres.ts";
import { openEngine } from "../openEngine.ts";
import type { Output } from "./command.ts";

export type Opened = Awaited<ReturnType<typeof openEngine>> & { config: Config };

// Only the daemon makes a ledger. A command that made one for a mistyped path would find everything in order there.
export function requireLedger(location: string): void {
  if (isPostgres(location) || existsSync(location)) return;
  throw new SettlementError(
    "invalid_config",
    `there is no ledger ${location}; SETTLEMENT_LEDGER names it, and the daemon makes it when it first starts`,
  );
}

// The engine of the configuration for one command. Without keys it can look and not act.
export async function withEngine<T>(
  { environment }: Output,
  { keys }: { keys: boolean },
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const config = readConfig(environment);
  requireLedger(config.ledger);
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
