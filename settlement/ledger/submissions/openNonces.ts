import type { Address, Hex } from "viem";
import { count, hex } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";
import type { Tx } from "../database/transactions/tx.ts";
import type { Lease } from "../operators/lease.ts";
import { lower } from "../validate.ts";
import { ownSubmission, validId } from "./findSubmission.ts";

// A nonce that was left over when a peer settled its batch, with all bytes that were signed for it here.
export type OpenNonce = { id: Hex; nonce: number; txHashes: readonly Hex[] };

export function listOpenNonces(operator: Address) {
  return async (sql: Reader): Promise<OpenNonce[]> => {
    const rows = await sql.all(
      `SELECT s.id, s.nonce, b.tx_hash FROM submissions s
         JOIN broadcasts b ON b.submission_id = s.id AND b.operator = s.operator AND b.nonce = s.nonce
       WHERE s.operator = $1 AND s.nonce_open = 1 AND s.state = 'final' ORDER BY s.nonce, b.position`,
      [lower(operator)],
    );
    return [...Map.groupBy(rows, (row) => hex(row, "id"))].map(([id, own]) => ({
      id,
      nonce: count(own[0] ?? {}, "nonce"),
      txHashes: own.map((row) => hex(row, "tx_hash")),
    }));
  };
}

// What has spent it is known.
export function closeNonce(lease: Lease, id: Hex) {
  const wanted = validId(id);
  return async (tx: Tx): Promise<void> => {
    await ownSubmission(tx, lease, wanted);
    await tx.run("UPDATE submissions SET nonce_open = 0 WHERE id = $1", [wanted]);
  };
}
