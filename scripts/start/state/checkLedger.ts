import { DatabaseSync } from "node:sqlite";
import { openLedger } from "../../../settlement/ledger/openLedger.ts";
import { post } from "../../world/hosts/transact.ts";
import { StartError } from "../StartError.ts";

const RESET = "npm start -- --reset starts over";

// A ledger that knows of a block which the chain does not have has lived longer than the chain's saved state, as when the
// plug was pulled. The engine would take it for a reorg of final blocks and halt; nothing could be settled.
export async function checkLedger(path: string, chainUrl: string): Promise<void> {
  const newest = await newestBlock(path);
  if (newest === undefined) return;
  const { number, hash } = newest;
  const [block] = (await post(chainUrl, [["eth_getBlockByNumber", [`0x${number.toString(16)}`, false]]])) as [
    { hash: string } | null,
  ];
  if (block?.hash === hash) return;
  throw new StartError(
    `the ledger is newer than the chain: it knows block ${number}, which the saved chain does not have, perhaps because ` +
      `the power failed before the chain was saved; ${RESET}`,
  );
}

// The newest block in which the ledger has seen one of its transactions.
async function newestBlock(path: string): Promise<{ number: bigint; hash: string } | undefined> {
  try {
    // Brings the tables up to this version, and refuses a file that is damaged or of a newer one.
    await (await openLedger(path)).close();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`the ledger cannot be opened: ${reason}; to forget it, ${RESET}`);
  }
  const database = new DatabaseSync(path, { readBigInts: true });
  try {
    const row = database
      .prepare(
        "SELECT block_number, block_hash FROM submissions WHERE block_hash IS NOT NULL ORDER BY block_number DESC LIMIT 1",
      )
      .get();
    return row && { number: row.block_number as bigint, hash: row.block_hash as string };
  } finally {
    database.close();
  }
}
