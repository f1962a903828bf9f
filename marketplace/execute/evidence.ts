import type { Address } from "viem";
import type { Sql } from "../../settlement/ledger/database/sql.ts";
import { toStorable } from "../../settlement/ledger/database/storable.ts";
import type { Hashes } from "../settlement/createSettlementClient.ts";

// An answer that is something else than its method promises.
export type Evidence = {
  callId: string;
  toolId: string;
  method: string;
  account: Address;
  hashes: Hashes;
  problem: string;
  // As JSON.
  request: string;
  response: string;
  outputSchema: string;
  // With which the tool has signed it, if it signs its answers.
  signedAnswer: unknown;
};

const MAX_KEPT_LENGTH = 1024 * 1024;
// Of one tool. More of the same proves nothing more.
const MAX_PER_TOOL = 100;

export async function keepEvidence(sql: Sql, evidence: Evidence, nowMs: number): Promise<void> {
  const { callId, toolId, method, account, hashes, problem, request, response, outputSchema, signedAnswer } = evidence;
  await sql.run(
    `INSERT INTO evidence (call_id, tool_id, method, account, at, request_hash, response_hash, schema_hash, problems, request,
       response, output_schema, signed_answer)
     SELECT $1, $2, $3, $4, CAST($5 AS BIGINT), $6, $7, $8, $9, $10, $11, $12, CAST($13 AS TEXT)
     WHERE (SELECT COUNT(*) FROM evidence WHERE tool_id = $2) < ${MAX_PER_TOOL}
     ON CONFLICT (call_id) DO NOTHING`,
    [
      callId,
      toolId,
      method,
      account,
      nowMs,
      hashes.requestHash,
      hashes.responseHash,
      hashes.schemaHash,
      toStorable(problem),
      keptOf(request),
      keptOf(response),
      outputSchema,
      signedAnswer === undefined ? null : keptOf(JSON.stringify(signedAnswer)),
    ],
  );
}

const keptOf = (text: string) => (text.length <= MAX_KEPT_LENGTH ? text : null);
