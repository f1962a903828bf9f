import type { Address, Hex } from "viem";
import { decodeFunctionData } from "viem";
import { routerAbi } from "../../settlement/chain/abi.ts";
import { decodeRows } from "../../settlement/chain/encodeRows.ts";
import type { Batch } from "../../settlement/domain/batch.ts";
import type { ToolId } from "../../settlement/domain/toolId.ts";
import type { Lease, Ledger } from "../../settlement/ledger/ledger.ts";
import type { Reader } from "../../settlement/ledger/sql.ts";
import type { Clients } from "./clients.ts";
import type { Block, SimulatedChain } from "./simulatedChain.ts";
import type { World } from "./world.ts";

const DAY_SECONDS = 24 * 3600;

export type Laws = ReturnType<typeof createLaws>;

// What has to be true at every moment, read from the chain and from the ledger without the engine's help.
export function createLaws(options: {
  chain: SimulatedChain;
  // The ledger and its tables without faults.
  ledger: Ledger;
  read: Reader;
  clients: Clients;
  world: World;
}) {
  const { chain, ledger, read, clients, world } = options;
  const violations: string[] = [];
  const broken = (law: string) => violations.push(law);

  const receiptsOf = new Map<Hex, Batch["receipts"]>();
  const settledCharges = new Map<Hex, Hex>();
  const settledRoots = new Set<Hex>();
  const finals = new Set<string>();
  const releasedOthers = new Set<string>();
  const chargedTo = new Map<string, bigint>();
  const earnedBy = new Map<string, bigint>();
  const operatorSpending: { operator: Address; at: number; amount: bigint; cap: bigint }[] = [];
  const alarms: { operator: Address; nonce: number }[] = [];
  let counted = 0;

  // A batch whose transaction will not be undone: nothing in it may have been settled before.
  function countBlock({ transactions, parent, timestamp, number, state, deeds }: Block): void {
    for (const { transaction, receipt, root } of transactions) {
      const outcome = root === null ? undefined : receipt.batches.get(root);
      if (root === null || outcome === undefined) continue;
      if (settledRoots.has(root)) broken(`batch ${root} was settled twice`);
      settledRoots.add(root);
      const receipts = receiptsOf.get(root);
      if (receipts === undefined) {
        broken(`batch ${root} is on chain and was never planned`);
        continue;
      }
      const failed = new Set(outcome.failed.map((row) => row.chargedTo));
      const refused = new Set(outcome.refused.map((line) => `${line.chargedTo} ${line.toolId}`));
      const { args } = decodeFunctionData({ abi: routerAbi, data: transaction.calldata });
      const [, toolIds, rows] = args as [Hex, readonly ToolId[], Hex];
      let charged = 0n;
      for (const { payer, modelCost, lines } of decodeRows(rows)) {
        if (failed.has(payer)) continue;
        const paid = lines.filter(({ toolIndex }) => !refused.has(`${payer} ${toolIds[toolIndex]}`));
        const total = paid.reduce((sum, { amount }) => sum + amount, modelCost);
        charged += total;
        add(chargedTo, payer, total);
        for (const { toolIndex, amount } of paid) add(earnedBy, toolIds[toolIndex] ?? "", amount);
      }
      if (charged !== outcome.charged) broken(`batch ${root} charged ${outcome.charged} and its rows say ${charged}`);
      const cap = parent?.state.protocol.operatorLimits.get(transaction.from)?.cap ?? 0n;
      // Others may have changed the limit between two transactions of this block; only a limit that stood still is told.
      const capAfter = state.protocol.operatorLimits.get(transaction.from)?.cap ?? 0n;
      const stood = cap === capAfter && !deeds.some(({ name }) => name.includes("limit"));
      operatorSpending.push({ operator: transaction.from, at: timestamp, amount: charged, cap: stood ? cap : 0n });
      for (const receiptOfCharge of receipts) {
        if (failed.has(receiptOfCharge.chargedTo)) continue;
        const before = settledCharges.get(receiptOfCharge.chargeId);
        // A refused line is settled as well: nobody will be charged for it.
        if (before !== undefined) broken(`charge ${receiptOfCharge.chargeId} is in ${before} and in ${root}`);
        settledCharges.set(receiptOfCharge.chargeId, root);
      }
    }
    counted = number + 1;
  }

  async function checkFinal(): Promise<void> {
    const rows = await read.all("SELECT id, kind, state, tx_hash, block_number, block_hash FROM submissions");
    for (const { id, kind, state, tx_hash, block_number, block_hash } of rows) {
      if (state === "released" && settledRoots.has(id as Hex))
        broken(`batch ${id} was released and is settled for good`);
      if (state === "released" && kind !== "settle" && !releasedOthers.has(String(id))) {
        releasedOthers.add(String(id));
        const [mined] = (await ownTransactionsOf(String(id))).filter(({ status }) => status === "success");
        if (mined !== undefined) broken(`submission ${id} was released, and ${mined.txHash} of it is mined for good`);
      }
      if (state === "included" || state === "reverted") {
        const status = chain.minedAs(tx_hash as Hex, block_hash as Hex);
        if (status !== (state === "included" ? "success" : "reverted"))
          broken(`submission ${id} is ${state} and its transaction came to ${status}`);
      }
      if (state !== "final" || finals.has(String(id))) continue;
      finals.add(String(id));
      const block = chain.blockAt(Number(block_number));
      if (block === null || block.hash !== block_hash) broken(`submission ${id} is final in a block that was left`);
      if (Number(block_number) > chain.finalizedNumber()) broken(`submission ${id} is final above the finalized block`);
      const mined = block?.transactions.find(({ transaction }) => transaction.hash === tx_hash);
      if (mined?.receipt.status !== "success") broken(`submission ${id} is final and did not succeed`);
      if (kind === "settle" && mined?.root !== id)
        broken(`batch ${id} is final and its transaction settled ${mined?.root}`);
    }
  }

  // What became for good of the transactions that were signed for a submission. Those whose receipt a node has denied are
  // left out: nobody could have known of them.
  async function ownTransactionsOf(id: string, nonce?: number): Promise<{ txHash: Hex; status: string }[]> {
    const signed = await read.all("SELECT tx_hash, nonce FROM broadcasts WHERE submission_id = $1", [id]);
    return signed.flatMap((row) => {
      const txHash = row.tx_hash as Hex;
      const status = chain.finalStatusOf(txHash);
      const counts = nonce === undefined || Number(row.nonce) === nonce;
      return status === null || chain.wasWithheld(txHash) || !counts ? [] : [{ txHash, status }];
    });
  }

  // Whoever is told that a key is used elsewhere goes looking for a thief. It must not have been this service itself.
  async function checkAlarms(): Promise<void> {
    for (const { operator, nonce } of alarms.splice(0)) {
      const submissions = await read.all(
        `SELECT DISTINCT s.id FROM submissions s JOIN broadcasts b ON b.submission_id = s.id
         WHERE s.operator = $1 AND b.nonce = $2`,
        [operator, nonce],
      );
      for (const { id } of submissions) {
        const [mined] = await ownTransactionsOf(String(id), nonce);
        if (mined !== undefined)
          broken(`nonce ${nonce} was said to be used elsewhere, and ${mined.txHash} of this service is mined on it`);
      }
    }
  }

  function checkChain(): void {
    const { protocol } = chain.head().state;
    const owed = [...protocol.credits.values()].reduce((sum, credit) => sum + credit, 0n);
    if (owed !== (protocol.balances.get(protocol.router) ?? 0n)) broken("the router holds another sum than it owes");
    for (const [name, amounts] of [
      ["balance", protocol.balances],
      ["allowance", protocol.allowances],
    ] as const) {
      for (const [account, amount] of amounts) if (amount < 0n) broken(`${account} has a ${name} of ${amount}`);
    }
    while (counted <= chain.finalizedNumber()) countBlock(chain.blockAt(counted) as Block);
  }

  async function check(): Promise<void> {
    checkChain();
    await checkFinal();
    await checkAlarms();
    const { accrued, pending, settled, absorbed, refused, voided } = await ledger.totals();
    if (accrued !== pending + settled + absorbed + refused + voided) broken("accrued is not the sum of its parts");
    if (accrued < clients.acknowledged())
      broken(`${clients.acknowledged()} was acknowledged and ${accrued} is in the ledger`);
    for (const difference of await ledger.audit()) broken(difference);
    const [over] = await read.all("SELECT id FROM sessions WHERE spent + held > max_spend");
    if (over !== undefined) broken(`${over.id} is over its budget`);
    const halt = await ledger.halted();
    if (halt !== null) broken(`halted: ${halt.reason}`);
    violations.push(...clients.objections.splice(0));
  }

  // Whether nothing is left to do for anybody.
  async function isDone(): Promise<boolean> {
    const { pending } = await ledger.totals();
    if (pending !== 0n || clients.busy() > 0) return false;
    for (const operator of world.operators) if ((await ledger.openSubmissions(operator)).length > 0) return false;
    const [held] = await read.all("SELECT call_id FROM holds WHERE state = 'held'");
    return held === undefined;
  }

  // A row that breaks its batch is set aside, and everybody else's charges come to their end without it.
  async function checkAllBut(payer: Address | null): Promise<void> {
    if (payer === null) return;
    const [left] = await read.all(
      "SELECT id, charged_to FROM charges WHERE state IN ('accrued', 'batched') AND charged_to <> $1",
      [payer],
    );
    if (left !== undefined) broken(`charge ${left.id} of ${left.charged_to} is not settled because of another account`);
  }

  async function checkEnd(): Promise<void> {
    const { accrued } = await ledger.totals();
    if (accrued !== clients.acknowledged())
      broken(`${accrued} is in the ledger and ${clients.acknowledged()} was delivered`);
    compare(
      "account",
      chargedTo,
      (await ledger.settledByAccount()).map(({ account, amount }) => [account, amount]),
    );
    compare(
      "tool",
      earnedBy,
      (await ledger.settledByTool()).map(({ toolId, amount }) => [toolId, amount]),
    );
    checkOperatorLimits();
    if (world.kindPayers) {
      const [failure] = await read.all("SELECT charge_id, reason FROM failures");
      if (failure !== undefined)
        broken(`an attempt was used up (${failure.reason}) though every payer could always pay`);
      const [tried] = await read.all("SELECT id FROM charges WHERE attempts > 0");
      if (tried !== undefined) broken(`charge ${tried.id} has attempts though every payer could always pay`);
    }
    const [several] = await read.all("SELECT charge_id FROM failures GROUP BY charge_id, attempt HAVING COUNT(*) > 1");
    if (several !== undefined) broken(`an attempt of ${several.charge_id} was counted twice`);
  }

  function compare(
    name: string,
    onChain: ReadonlyMap<string, bigint>,
    inLedger: readonly (readonly [string, bigint])[],
  ) {
    const left = new Map([...onChain].filter(([, amount]) => amount > 0n));
    for (const [key, amount] of inLedger) {
      if ((left.get(key) ?? 0n) !== amount)
        broken(`${name} ${key}: ${left.get(key) ?? 0n} on chain, ${amount} in the ledger`);
      left.delete(key);
    }
    for (const [key, amount] of left) broken(`${name} ${key}: ${amount} on chain, nothing in the ledger`);
  }

  // In the 24 hours before any settlement, it included, an operator has not moved more than its limit then.
  function checkOperatorLimits(): void {
    for (const { operator, at, cap, amount } of operatorSpending) {
      const sum = operatorSpending
        .filter((other) => other.operator === operator && other.at <= at && other.at > at - DAY_SECONDS)
        .reduce((total, other) => total + other.amount, 0n);
      if (amount > 0n && sum > cap && cap > 0n) broken(`operator ${operator} moved ${sum} in 24 hours, above ${cap}`);
    }
  }

  return {
    violations,
    check,
    isDone,
    checkAllBut,
    checkEnd,
    // Whether somebody else has taken this lease over.
    async isOutdated({ operator, token }: Lease): Promise<boolean> {
      const [row] = await read.all("SELECT token FROM operators WHERE operator = $1", [operator.toLowerCase()]);
      return row !== undefined && Number(row.token) !== token;
    },
    alarmed: ({ operator, nonce }: { operator: Address; nonce: number }) => alarms.push({ operator, nonce }),
    wroteWithoutLease: (verb: string) => broken(`${verb} changed the ledger with a lease that was lost`),
    planned: ({ root, receipts }: Batch) => receiptsOf.set(root, receipts),
    // Asked by the chain when it is handed bytes.
    async sent(raw: Hex): Promise<void> {
      const [saved] = await read.all("SELECT tx_hash FROM broadcasts WHERE raw = $1", [raw]);
      if (saved === undefined) broken("bytes were sent that are not in the ledger");
    },
  };
}

function add(sums: Map<string, bigint>, key: string, amount: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}
