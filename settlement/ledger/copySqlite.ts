import { chmodSync, closeSync, existsSync, fsyncSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { SettlementError } from "../domain/errors.ts";

const OWNER_ONLY = 0o600;
const BUSY_TIMEOUT_MS = 5_000;

// Writes a ledger file as it is at one moment into a new file, while others go on writing. Copying the file itself would
// miss what is in its log, or tear it.
export function copySqlite(path: string, target: string): void {
  if (!existsSync(path)) throw new SettlementError("invalid_config", `there is no ledger ${path}`);
  if (existsSync(target)) {
    throw new SettlementError("invalid_input", `${target} exists; name a new file, so that no older copy is lost`);
  }
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.prepare("VACUUM INTO ?").run(target);
  } finally {
    database.close();
  }
  chmodSync(target, OWNER_ONLY);
  const file = openSync(target, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
