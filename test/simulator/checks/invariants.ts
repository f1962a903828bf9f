import type { Address, Hex } from "viem";
import type { Chain } from "../../../settlement/chain/chain.ts";
import { decodeSettle } from "../../../settlement/chain/router/settleCall.ts";
import type { Batch } from "../../../settlement/domain/batch/batch.ts";
import type { DueCharge } from "../../../settlement/domain/charges/charge.ts";
import type { Turn, TurnHold } from "../../../settlement/domain/charges/turn.ts";
import { SettlementError } from "../../../settlement/domain/errors.ts";
import { creditLimitOf } from "../../../settlement/domain/payer/credit.ts";
import type { EngineEvent, Policy } from "../../../settlement/engine/context.ts";
import { audit } from "../../../settlement/engine/watch/audit.ts";
import { prove, verifyProof } from "../../../settlement/engine/watch/prove.ts";
import type { Block as ArchivedBlock } from "../../../settlement/ledger/archive/format.ts";
import type { Reader, Row } from "../../../settlement/ledger/database/sql.ts";
import type { Lease, Ledger } from "../../../settlement/ledger/ledger.ts";
import { outcomeFromJson } from "../../../settlement/ledger/submissions/outcome/outcomeJson.ts";
import type { Block } from "../chain/blocks.ts";
import { budgetOf, type Protocol, prepaidOf } from "../chain/protocol.ts";
import type { SimulatedChain } from "../chain/simulatedChain.ts";
import { type Transaction, transactionOf } from "../chain/transaction.ts";
import { fundsOf } from "../faults/disturb.ts";
import type { Habits } from "../habits.ts";
import type { Clients } from "../processes/clients.ts";
import type { Wallets } from "../processes/wallets.ts";
import { ROUTER, type Scenario, STAKE } from "../scenario.ts";

// A daemon that dies between the halt and the alert leaves the alert to the next one.
const MAX_SILENT_STEPS = 40;
const DAY_SECONDS = 24 * 3600;
// What a daemon's clock may be off without going by the database's.
const CLOCK_TOLERANCE_MS = 1_000;
// The audit's verdict is compared with the truth whenever that is bad, and so often when it is not.
const CHECKS_PER_AUDIT = 20;
// What daemons' clocks are apart at the most, and a step in which it is noticed.
const MAX_SKEW_MS = 1_200_000;

export type Invariants = ReturnType<typeof createInvariants>;

// What must be true at every moment, read from the chain and from the ledger without the engine's help.
export function createInvariants(options: {
  chain: SimulatedChain;
  // The chain as an engine would ask it.
  port: Chain;
  // The ledger and its tables without faults.
  ledger: Ledger;
  read: Reader;
  clients: Clients;
  // What payers have signed.
  wallets: Wallets;
  scenario: Scenario;
  policy: Policy;
  nowMs: () => number;
  habits: Habits;
  // Whether somebody else has used an operator's key for something that is no batch.
  keyUsedElsewhere: () => boolean;
  // Everything that has left for the archive.
  archived: () => Promise<readonly ArchivedBlock[]>;
  // Who else is to know of a batch and its charges.
  planned: (batch: Batch, charges: readonly DueCharge[]) => void;
}) {
  const { chain, ledger, read, clients, wallets, scenario, habits } = options;
  const violations: string[] = [];
  const broken = (invariant: string) => violations.push(invariant);
  let capturedTurns = 0;
  let checks = 0;

  const receiptsOf = new Map<Hex, Batch["receipts"]>();
  // The tools of charges that were planned.
  const toolOf = new Map<Hex, string>();
  // What was absorbed for tools, and when that was noticed.
  const absorbed = new Map<string, { toolId: string; amount: bigint; atMs: number }>();
  const highestPrepaid = new Map<Address, bigint>();
  // The rows of each batch as they were planned.
  const plannedRows = new Map<Hex, string>();
  const settledCharges = new Map<Hex, Hex>();
  const settledIds = new Set<Hex>();
  const settledAs = new Map<Hex, string>();
  const settledFor = new Map<Hex, bigint>();
  const settledIn = new Map<Hex, number>();
  const settledByUs: Hex[] = [];
  const finals = new Set<string>();
  const abandonedOthers = new Set<string>();
  const chargedTo = new Map<string, bigint>();
  const earnedBy = new Map<string, bigint>();
  const paidUnder = new Map<string, bigint>();
  const operatorSpending: { operator: Address; at: number; amount: bigint; cap: bigint }[] = [];
  const alerts = new Set<string>();
  const alarms: { operator: Address; nonce: number }[] = [];
  // Nonces that were said to be used elsewhere, and all bytes that this service has sent.
  const foreign = new Set<string>();
  const sentBytes = new Map<Hex, Transaction>();
  // How often the ledger was taken back, and had been when bytes were saved.
  let restores = 0;
  const savedAfter = new Map<Hex, number>();
  const initialFunds = new Map(
    scenario.payers.map((payer) => [payer, initialFundsOf(chain.head().state.protocol, payer)]),
  );
  let counted = 0;
  // What batches have taken that only a thief can have made.
  const stolenFrom = new Map<string, bigint>();
  // For how many steps all has been halted without a word to anybody.
  let silentSteps = 0;
  // How often the past has changed: by a restore, or because the chain undid what was final.
  let moment = 0;
  const leases = new Map<Address, { holder: string; untilMs: number }>();
  let limitsHit = 0;
  let aboveLimit = 0;
  let isFenced = false;

  // A batch whose transaction will not be undone: nothing in it may have been settled before.
  function countBlock({ transactions, parent, timestamp, number, state, deeds }: Block): void {
    for (const { transaction, receipt, batchId } of transactions) {
      const outcome = batchId === null ? undefined : receipt.batches.get(batchId);
      if (batchId === null || outcome === undefined) continue;
      if (settledIds.has(batchId)) broken(`batch ${batchId} was settled twice`);
      settledIds.add(batchId);
      settledAs.set(batchId, rowsOf(transaction.calldata));
      settledFor.set(batchId, outcome.charged);
      settledIn.set(batchId, number);
      if (scenario.operators.includes(transaction.from)) settledByUs.push(batchId);
      // A thief may settle other rows under a root that was on its way.
      const isOurs = plannedRows.get(batchId) === rowsOf(transaction.calldata);
      const receipts = isOurs || !scenario.thief ? receiptsOf.get(batchId) : undefined;
      if (receipts === undefined && !scenario.thief) broken(`batch ${batchId} is on chain and was never planned`);
      const failed = new Set(outcome.failed.map((row) => row.chargedTo));
      const refused = new Set(outcome.refused.map((line) => `${line.chargedTo} ${line.toolId}`));
      // Nobody was charged for these, and somebody will be.
      const deferred = new Set(
        outcome.refused
          .filter(({ reason }) => reason === "earning_cap")
          .map((line) => `${line.chargedTo} ${line.toolId}`.toLowerCase()),
      );
      const { toolIds, rows } = decodeSettle(transaction.calldata);
      let charged = 0n;
      for (const { payer, modelCost, lines, budget } of rows) {
        if (failed.has(payer)) continue;
        const paid = lines.filter(({ toolIndex }) => !refused.has(`${payer} ${toolIds[toolIndex]}`));
        const total = paid.reduce((sum, { amount }) => sum + amount, modelCost);
        charged += total;
        add(chargedTo, payer, total);
        checkConsent(payer, budget?.id ?? null, total);
        if (receipts === undefined) add(stolenFrom, payer, total);
        for (const { toolIndex, amount } of paid) add(earnedBy, toolIds[toolIndex] ?? "", amount);
      }
      if (charged !== outcome.charged)
        broken(`batch ${batchId} charged ${outcome.charged} and its rows say ${charged}`);
      const cap = parent?.state.protocol.operatorLimits.get(transaction.from)?.cap ?? 0n;
      // Others may have changed the limit between two transactions of this block; only a limit that stood still is told.
      const capAfter = state.protocol.operatorLimits.get(transaction.from)?.cap ?? 0n;
      const stood = cap === capAfter && !deeds.some(({ name }) => name.includes("limit"));
      operatorSpending.push({ operator: transaction.from, at: timestamp, amount: charged, cap: stood ? cap : 0n });
      for (const receiptOfCharge of receipts ?? []) {
        if (failed.has(receiptOfCharge.chargedTo)) continue;
        const toolId = toolOf.get(receiptOfCharge.chargeId);
        if (deferred.has(`${receiptOfCharge.chargedTo} ${toolId}`.toLowerCase())) continue;
        const before = settledCharges.get(receiptOfCharge.chargeId);
        // A refused line is settled as well: nobody will be charged for it.
        // A ledger that was made to forget knows accounts and amounts, and no longer which charges they were for.
        // What the chain undid may come back twice, through no fault of anybody's here; what is left of it is a credit.
        if (before !== undefined && !scenario.forgetful && !habits.unfaithful)
          broken(`charge ${receiptOfCharge.chargeId} is in ${before} and in ${batchId}`);
        settledCharges.set(receiptOfCharge.chargeId, batchId);
      }
    }
    counted = number + 1;
  }

  // Whoever demands consent pays under what it signed alone, and nobody more than that.
  function checkConsent(payer: Address, id: bigint | null, total: bigint): void {
    if (total === 0n) return;
    if (id === null) {
      if (scenario.consenting.includes(payer)) broken(`${payer} demands consent and was charged ${total} without it`);
      return;
    }
    const name = `${payer} ${id}`;
    add(paidUnder, name, total);
    const limit = wallets.limitOf({ payer, id });
    if ((paidUnder.get(name) ?? 0n) > limit) broken(`${payer} signed ${limit} as budget ${id} and paid more`);
  }

  async function checkFinal(): Promise<void> {
    const rows = await read.all(
      `SELECT s.id, s.kind, s.state, s.tx_hash, s.block_number, s.block_hash, o.retired
       FROM submissions s JOIN operators o ON o.operator = s.operator`,
    );
    // While what was final is not on the chain nobody submits either: the next tick holds or halts.
    const last = await ledger.readFinalized();
    const isUndone = last !== null && chain.blockAt(Number(last.number))?.hash !== last.hash;
    const halted = isUndone || (await ledger.readHalt()) !== null;
    for (const { id, kind, state, tx_hash, block_number, block_hash, retired } of rows) {
      // A ledger that was made to forget may have given it up by then, and halts when it sees it: before its block is noted as final.
      const isUnseen = last === null || (settledIn.get(id as Hex) ?? 0) > Number(last.number);
      const mayBeSettled = (scenario.forgetful || habits.unfaithful || scenario.thief) && (halted || isUnseen);
      if (state === "abandoned" && settledIds.has(id as Hex) && !mayBeSettled)
        broken(`batch ${id} was abandoned and is settled for good`);
      // A payout or a filler of a key that was given up may be mined all the same, and charges nobody.
      if (state === "abandoned" && kind !== "settle" && retired === 0n && !abandonedOthers.has(String(id))) {
        abandonedOthers.add(String(id));
        const [mined] = (await ownTransactionsOf(String(id))).filter(({ status }) => status === "success");
        if (mined !== undefined) broken(`submission ${id} was abandoned, and ${mined.txHash} of it is mined for good`);
      }
      if ((state === "included" || state === "reverted") && !chain.hasMadeUp(tx_hash as Hex)) {
        const status = chain.minedAs(tx_hash as Hex, block_hash as Hex);
        if (status !== (state === "included" ? "success" : "reverted"))
          broken(`submission ${id} is ${state} and its transaction came to ${status}`);
      }
      if (state !== "final") finals.delete(String(id));
      if (state !== "final" || finals.has(String(id))) continue;
      // What the chain had said before it undid its final blocks may be written down after that. While what was final is not there
      // nobody settles on top of it, and once somebody has put that right it is looked at here.
      if (habits.unfaithful && (halted || last === null || Number(block_number) > Number(last.number))) continue;
      finals.add(String(id));
      const block = chain.blockAt(Number(block_number));
      if (block === null || block.hash !== block_hash) broken(`submission ${id} is final in a block that was left`);
      if (Number(block_number) > chain.finalizedNumber()) broken(`submission ${id} is final above the finalized block`);
      const mined = block?.transactions.find(({ transaction }) => transaction.hash === tx_hash);
      if (mined?.receipt.status !== "success") broken(`submission ${id} is final and did not succeed`);
      if (kind === "settle" && mined?.batchId !== id)
        broken(`batch ${id} is final and its transaction settled ${mined?.batchId}`);
    }
  }

  // What became for good of the transactions that were signed for a submission. Those whose receipt a node has denied are
  // left out: nobody could have known of them.
  async function ownTransactionsOf(
    id: string,
    at?: { operator: Address; nonce: number },
  ): Promise<{ txHash: Hex; status: string }[]> {
    const signed = await read.all("SELECT tx_hash, operator, nonce FROM broadcasts WHERE submission_id = $1", [id]);
    return signed.flatMap((row) => {
      const txHash = row.tx_hash as Hex;
      const status = chain.finalStatusOf(txHash);
      // Another key may have signed for it on the same number.
      const counts = at === undefined || (Number(row.nonce) === at.nonce && row.operator === at.operator.toLowerCase());
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
        const [mined] = await ownTransactionsOf(String(id), { operator, nonce });
        if (mined !== undefined)
          broken(`nonce ${nonce} was said to be used elsewhere, and ${mined.txHash} of this service is mined on it`);
      }
    }
  }

  function checkChain(): void {
    const { protocol } = chain.head().state;
    const credited = [...protocol.credits.values()].reduce((sum, credit) => sum + credit, 0n);
    const owed = [...protocol.prepaid.values()].reduce((sum, { balance }) => sum + balance, credited);
    if (owed !== (protocol.balances.get(protocol.router) ?? 0n)) broken("the router holds another sum than it owes");
    for (const [name, amounts] of [
      ["balance", protocol.balances],
      ["allowance", protocol.allowances],
    ] as const) {
      for (const [account, amount] of amounts) if (amount < 0n) broken(`${account} has a ${name} of ${amount}`);
    }
    for (const [account, { balance }] of protocol.prepaid) {
      if (balance < 0n) broken(`${account} has a prepaid balance of ${balance}`);
    }
    while (counted <= chain.finalizedNumber()) countBlock(chain.blockAt(counted) as Block);
  }

  // What was refused for good, and in batches that are mined and not final: it is pending no longer either way.
  async function refusedByPayer(): Promise<Map<unknown, bigint>> {
    const sums = new Map<unknown, bigint>();
    const add = (rows: readonly Row[]) => {
      for (const { payer, amount } of rows) sums.set(payer, (sums.get(payer) ?? 0n) + BigInt(amount as bigint));
    };
    add(await read.all("SELECT payer, amount FROM charges WHERE state = 'refused'"));
    const mined = await read.all(
      `SELECT b.batch_id, b.outcome FROM batches b JOIN submissions s ON s.id = b.batch_id
       WHERE s.state = 'included' AND b.outcome IS NOT NULL`,
    );
    for (const { batch_id: batchId, outcome } of mined) {
      for (const { chargedTo, toolId } of outcomeFromJson(String(outcome)).refused) {
        const line = [batchId as string, chargedTo.toLowerCase(), toolId.toLowerCase()];
        add(
          await read.all(
            "SELECT payer, amount FROM charges WHERE batch_id = $1 AND charged_to = $2 AND tool_id = $3",
            line,
          ),
        );
      }
    }
    return sums;
  }

  async function check(): Promise<void> {
    checkChain();
    notePrepaid();
    await checkAbsorbed();
    await checkFinal();
    await checkAlarms();
    const totals = await ledger.readTotals();
    const { accrued, pending, settled, absorbed, voided } = totals;
    if (accrued !== pending + settled + absorbed + totals.refused + voided)
      broken("accrued is not the sum of its parts");
    if (accrued < clients.acknowledged())
      broken(`${clients.acknowledged()} was acknowledged and ${accrued} is in the ledger`);
    for (const difference of await ledger.audit()) broken(difference);
    // By then it is due, whatever the clocks of daemons say.
    const latest = options.nowMs() + CLOCK_TOLERANCE_MS;
    const [early] = await read.all("SELECT id, accrued_at FROM charges WHERE accrued_at > $1", [latest]);
    if (early !== undefined)
      broken(`charge ${early.id} was accrued ${Number(early.accrued_at) - options.nowMs()} ms from now`);
    const [over] = await read.all("SELECT id FROM sessions WHERE spent + held > max_spend");
    if (over !== undefined) broken(`${over.id} is over its budget`);
    const [overdrawn] = await read.all("SELECT payer, id FROM budgets WHERE pending + held > max_spend");
    if (overdrawn !== undefined)
      broken(`more is drawn on budget ${overdrawn.id} of ${overdrawn.payer} than was signed`);
    // What nobody is charged for can be spent again.
    const refusedOf = await refusedByPayer();
    for (const payer of scenario.payers) {
      const taken = chargedTo.get(payer) ?? 0n;
      const due = clients.delivered(payer) + (stolenFrom.get(payer) ?? 0n);
      if (taken > due && !(await isMadeGood(payer, taken - due))) broken(`${payer} was charged ${taken} for ${due}`);
      const captured = clients.captured(payer);
      const funds = initialFunds.get(payer) ?? 0n;
      if (scenario.tight && captured - (refusedOf.get(payer) ?? 0n) > funds + madeUpFrom(payer))
        broken(`${payer} has ${funds} and calls for ${captured} were let through`);
    }
    const halt = await ledger.readHalt();
    if (halt !== null && !mayHalt(halt.reason)) broken(`halted: ${halt.reason}`);
    silentSteps = halt === null || alerts.has(halt.reason) ? 0 : silentSteps + 1;
    if (silentSteps > MAX_SILENT_STEPS) broken(`nobody was told that all is halted: ${halt?.reason}`);
    violations.push(...clients.objections.splice(0));
    checks += 1;
    if (checks % CHECKS_PER_AUDIT === 0 || !(await isEqual())) await checkAudit();
  }

  // What is said to be mined is taken for paid until it is final, so that an endpoint which makes it up lets its payers call for as much
  // more, and for nothing beyond that. It could as well say of them that they have more: what a payer has is one endpoint's word.
  function madeUpFrom(payer: Address): bigint {
    let sum = 0n;
    for (const transaction of sentBytes.values()) {
      if (!chain.hasMadeUp(transaction.hash) || !chain.payersOf(transaction).includes(payer)) continue;
      for (const row of decodeSettle(transaction.calldata).rows) {
        if (row.payer === payer) sum += row.lines.reduce((total, { amount }) => total + amount, row.modelCost);
      }
    }
    return sum;
  }

  // Nobody can keep a chain that undoes what was final from taking something twice. It must be noticed, and then be the payer's.
  async function isMadeGood(payer: Address, tooMuch: bigint): Promise<boolean> {
    if (!habits.unfaithful) return false;
    if ((await ledger.readHalt()) !== null) return true;
    const [row] = await read.all(
      "SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) AS amount FROM unexplained_payments WHERE charged_to = $1",
      [payer],
    );
    return BigInt(row?.amount as bigint) >= tooMuch;
  }

  // What a halt may be about: what others have done with our keys, or what the ledger was made to forget.
  const mayHalt = (reason: string) =>
    scenario.thief ||
    scenario.forgetful ||
    habits.unfaithful ||
    (reason.includes("nonce") && options.keyUsedElsewhere());

  // What a payer owes and has reserved, beyond all that it ever had prepaid, is never more than its credit.
  async function checkCredit(payer: Address): Promise<void> {
    notePrepaid();
    const [row] = await read.all("SELECT pending + held AS committed, settled FROM payers WHERE payer = $1", [
      payer.toLowerCase(),
    ]);
    if (row === undefined) return;
    const limit = creditLimitOf(options.policy.credit, BigInt(row.settled as bigint));
    const exposure = BigInt(row.committed as bigint) - (highestPrepaid.get(payer) ?? 0n);
    if (exposure > limit) broken(`${payer} owes ${exposure} beyond what is prepaid, and has credit for ${limit}`);
  }

  // Whom a thief, or a batch that was forgotten, has charged is charged again only for what that does not pay.
  async function checkPlanned(batchId: Hex): Promise<void> {
    const [paid] = await read.all(
      `SELECT c.id, c.charged_to, u.amount FROM charges c
         JOIN unexplained_payments u ON u.charged_to = c.charged_to AND u.tool_id = COALESCE(c.tool_id, '')
       WHERE c.batch_id = $1 AND u.amount > 0`,
      [batchId],
    );
    if (paid !== undefined)
      broken(`charge ${paid.id} of ${paid.charged_to} is in a batch, though ${paid.amount} was taken for it before`);
  }

  // What was held for a turn is the turn's: nothing that happened since is a reason to refuse it.
  function checkHeld(held: TurnHold, turn: Turn, { kind }: { kind: string }): void {
    if (kind === "recorded") capturedTurns += 1;
    const sameBudget = (turn.budgetId ?? null) === held.budgetId;
    const isLate = kind === "credit_exceeded" || (kind === "budget_refused" && sameBudget);
    if (isLate) broken(`${turn.id} was refused as ${kind}, though ${held.amount} was held for it`);
  }

  // In the 24 hours before anything was absorbed, it included, no more was absorbed for its tool than its stake answers for. Stakes
  // are never above what they begin with.
  async function checkAbsorbed(): Promise<void> {
    if (scenario.forgetful) return;
    const nowMs = options.nowMs();
    const rows = await read.all(
      "SELECT id, tool_id, amount FROM charges WHERE charged_to <> payer AND tool_id IS NOT NULL",
    );
    for (const { id, tool_id, amount } of rows) {
      if (absorbed.has(String(id))) continue;
      const toolId = String(tool_id);
      absorbed.set(String(id), { toolId, amount: amount as bigint, atMs: nowMs });
      const most = (STAKE * BigInt(options.policy.absorptionBps)) / 10_000n;
      const sum = [...absorbed.values()]
        .filter((other) => other.toolId === toolId && other.atMs > nowMs - DAY_SECONDS * 1_000 + MAX_SKEW_MS)
        .reduce((total, other) => total + other.amount, 0n);
      if (sum > most) broken(`${sum} was absorbed for ${toolId} in 24 hours, above ${most}`);
    }
  }

  function notePrepaid(): void {
    const { protocol } = chain.head().state;
    for (const payer of scenario.payers) {
      const { balance } = prepaidOf(protocol, payer);
      if (balance > (highestPrepaid.get(payer) ?? 0n)) highestPrepaid.set(payer, balance);
    }
  }

  // Whether only that is left which payers cannot pay and the platform does not absorb.
  async function isOwedOnly(): Promise<boolean> {
    if ((await ledger.readHalt()) !== null || clients.busy() > 0) return false;
    const { pending } = await ledger.readTotals();
    const [owed] = await read.all("SELECT CAST(COALESCE(SUM(owed), 0) AS BIGINT) AS owed FROM payers");
    return pending !== 0n && pending === owed?.owed;
  }

  // What payers owe under budgets that have ended: nothing that they could sign pays it any more.
  async function neverPaid(): Promise<bigint> {
    const { state, timestamp } = chain.head();
    const rows = await read.all(
      `SELECT c.payer, c.budget_id, c.amount, b.valid_until FROM charges c
         JOIN budgets b ON b.payer = c.payer AND b.id = c.budget_id
       WHERE c.state = 'accrued' AND c.owed = 1`,
    );
    const over = rows.filter(({ payer, budget_id, valid_until }) => {
      const { endsAt } = budgetOf(state.protocol, payer as Address, BigInt(budget_id as string));
      return (endsAt !== 0n && endsAt < timestamp) || (valid_until as bigint) < timestamp;
    });
    return over.reduce((sum, { amount }) => sum + (amount as bigint), 0n);
  }

  // Whether nothing is left to do for anybody.
  async function isDone(): Promise<boolean> {
    if ((await ledger.readHalt()) !== null) return false;
    const { pending } = await ledger.readTotals();
    if (pending !== (await neverPaid()) || clients.busy() > 0) return false;
    for (const operator of scenario.operators)
      if ((await ledger.listOpenSubmissions(operator, 1)).length > 0) return false;
    const [held] = await read.all("SELECT call_id FROM holds WHERE state = 'held'");
    return held === undefined;
  }

  // A row that breaks its batch is set aside, and everybody else's charges come to the chain without it, but for what somebody owes
  // who cannot pay, and for what has only just become due again: that waited for an attempt of its own.
  async function checkAllBut(payer: Address | null, dueSinceMs: number): Promise<void> {
    if (payer === null) return;
    const [left] = await read.all(
      `SELECT c.id, c.charged_to FROM charges c LEFT JOIN submissions s ON s.id = c.batch_id
       WHERE (c.state = 'accrued' OR (c.state = 'batched' AND s.state NOT IN ('included', 'final')))
         AND c.charged_to <> $1 AND c.owed = 0 AND c.due_at <= $2`,
      [payer, dueSinceMs],
    );
    if (left !== undefined) broken(`charge ${left.id} of ${left.charged_to} is not settled because of another account`);
  }

  // What is above every operator's limit waits until somebody raises it, and keeps nobody else waiting.
  async function checkAllWithin(limit: bigint): Promise<void> {
    const [left] = await read.all(
      `SELECT c.id, c.amount FROM charges c LEFT JOIN submissions s ON s.id = c.batch_id
       WHERE (c.state = 'accrued' OR (c.state = 'batched' AND s.state <> 'final')) AND c.owed = 0
         AND c.amount <= $1`,
      [limit],
    );
    if (left !== undefined)
      broken(`charge ${left.id} of ${left.amount} waits, though a limit of ${limit} has room for it`);
  }

  // Whether chain and ledger agree: every batch that our keys have settled for good is one that the ledger stands by, with the
  // rows that it has, and what is final in the ledger is final on chain, and came to the same: a final block that is undone may be
  // followed by one in which the same rows fail.
  async function isEqual(): Promise<boolean> {
    checkChain();
    if (!(await areKnown(settledByUs))) return false;
    const rows = await read.all(
      `SELECT s.id, s.state, s.calldata, b.outcome FROM submissions s LEFT JOIN batches b ON b.batch_id = s.id
       WHERE s.kind = 'settle'`,
    );
    return rows.every(({ id, state, calldata, outcome }) => {
      if (!settledIds.has(id as Hex)) return state !== "final";
      if (state === "final" && typeof outcome === "string") {
        if (outcomeFromJson(outcome).charged !== settledFor.get(id as Hex)) return false;
      }
      // It is in the archive. It was final for long before it went there, and was compared then.
      if (calldata === "") return true;
      return settledAs.get(id as Hex) === rowsOf(calldata as Hex);
    });
  }

  async function checkAudit(): Promise<void> {
    const explained = await isEqual();
    const verdict = await audit(ledger, options.port, 0n, scenario.operators).catch((error: unknown) => {
      // A chain that is shorter than what was final says nothing.
      if (error instanceof SettlementError && error.retryable) return null;
      throw error;
    });
    if (verdict === null) return;
    const differs = verdict.kind === "different";
    if (differs === explained)
      broken(`the audit says ${JSON.stringify(verdict)} and all is ${explained ? "" : "not "}explained`);
  }

  async function areKnown(batchIds: readonly Hex[]): Promise<boolean> {
    const states = new Map((await read.all("SELECT id, state FROM submissions")).map(({ id, state }) => [id, state]));
    return batchIds.every((batchId) => ![undefined, "abandoned"].includes(states.get(batchId) as string | undefined));
  }

  // Somebody who uses a key of ours is noticed, whatever it was for: where nothing was forgotten, a nonce that is spent for good and
  // that no bytes of ours have spent has its alarm. Not so those of before this ledger's first use of the key, which is never a
  // filler: an endpoint that lags may ask for one on a nonce of before.
  async function checkForeignNonces(): Promise<void> {
    if (scenario.forgetful || scenario.thief || habits.unfaithful || isFenced) return;
    for (const operator of scenario.operators) {
      const own = [...sentBytes.values()].filter(({ from, to }) => from === operator && to === ROUTER);
      const first = Math.min(...own.map(({ nonce }) => nonce));
      for (let number = 0; number <= chain.finalizedNumber(); number++) {
        for (const { transaction } of chain.blockAt(number)?.transactions ?? []) {
          const { from, nonce, hash } = transaction;
          if (from !== operator || nonce < first || sentBytes.has(hash) || foreign.has(`${operator} ${nonce}`))
            continue;
          broken(`${operator} has used nonce ${nonce} elsewhere, and nobody was told`);
        }
      }
    }
  }

  async function checkEnd(): Promise<void> {
    await checkAudit();
    if (habits.lost === null) await checkForeignNonces();
    const { accrued } = await ledger.readTotals();
    if (accrued !== clients.acknowledged())
      broken(`${accrued} is in the ledger and ${clients.acknowledged()} was delivered`);
    const unexplained = await read.all("SELECT charged_to, tool_id, amount FROM unexplained_payments");
    const settledOf = new Map(
      (await ledger.readSettledByAccount()).map(({ account, amount }) => [account as string, amount as bigint]),
    );
    for (const { charged_to, amount } of unexplained) add(settledOf, String(charged_to), amount as bigint);
    compare("account", chargedTo, [...settledOf]);
    const paidTo = new Map(
      (await ledger.readSettledByTool()).map(({ toolId, amount }) => [toolId as string, amount as bigint]),
    );
    for (const { tool_id, amount } of unexplained) if (tool_id !== "") add(paidTo, String(tool_id), amount as bigint);
    compare("tool", earnedBy, [...paidTo]);
    checkOperatorLimits();
    await checkArchive();
    // What a thief leaves of a batch goes on with an attempt more, so that it has another root.
    if (scenario.kindPayers && !scenario.thief) {
      // A ledger that was made to forget does not know what was taken of a budget meanwhile.
      const forgiven = scenario.forgetful ? "reason = 'budget_exceeded'" : "0 = 1";
      const [failure] = await read.all(`SELECT charge_id, reason FROM failures WHERE NOT (${forgiven})`);
      if (failure !== undefined)
        broken(`an attempt was used up (${failure.reason}) though every payer could always pay`);
      const [tried] = await read.all(
        `SELECT id FROM charges WHERE attempts > deferrals AND id NOT IN (SELECT charge_id FROM failures WHERE ${forgiven})`,
      );
      if (tried !== undefined) broken(`charge ${tried.id} has attempts though every payer could always pay`);
    }
    // A line that had to wait for what its tool may earn is in no batch that refused it for that.
    const refusals = await read.all(
      `SELECT c.charged_to, c.tool_id, b.outcome FROM charges c JOIN batches b ON b.batch_id = c.batch_id WHERE c.state = 'refused'`,
    );
    for (const { charged_to, tool_id, outcome } of refusals) {
      const line = outcomeFromJson(String(outcome)).refused.find(
        ({ chargedTo, toolId }) => chargedTo.toLowerCase() === charged_to && toolId.toLowerCase() === tool_id,
      );
      if (line?.reason === "earning_cap") broken(`a charge of ${charged_to} was dropped for what its tool may earn`);
    }
    // What a budget covers is known before it is drawn on, unless the ledger was made to forget, and no raise takes it back.
    const unexpected = scenario.forgetful ? "'budget_tools'" : "'budget_tools', 'budget_exceeded'";
    const uncovered = (
      await read.all(
        `SELECT f.charge_id, f.reason, f.failed_at, c.payer, c.budget_id, b.valid_until FROM failures f
           LEFT JOIN charges c ON c.id = f.charge_id LEFT JOIN budgets b ON b.payer = c.payer AND b.id = c.budget_id
         WHERE f.reason IN (${unexpected})`,
      )
    ).find((row) => row.reason !== "budget_exceeded" || !hasEnded(row));
    if (uncovered !== undefined) broken(`charge ${uncovered.charge_id} failed with ${uncovered.reason}`);
    const [several] = await read.all("SELECT charge_id FROM failures GROUP BY charge_id, attempt HAVING COUNT(*) > 1");
    if (several !== undefined) broken(`an attempt of ${several.charge_id} was counted twice`);
  }

  // A row that brings an older signature is told that this one is exceeded, though what was raised since has expired.
  function hasEnded({ payer, budget_id, valid_until, failed_at }: Row): boolean {
    if (typeof valid_until !== "bigint") return false;
    const { endsAt } = budgetOf(chain.head().state.protocol, payer as Address, BigInt(budget_id as string));
    return endsAt !== 0n || valid_until * 1_000n < (failed_at as bigint);
  }

  // What has left is nowhere twice, is not in the tables as well, and can be proven.
  async function checkArchive(): Promise<void> {
    const charges = (await options.archived()).flatMap((block) => block.charges);
    const ids = charges.map(({ id }) => id as Hex);
    if (new Set(ids).size < ids.length) broken("a charge is in the archive twice");
    const here = new Set((await read.all("SELECT id FROM charges")).map(({ id }) => id));
    for (const { id, batch_id: batchId, budget_id: budgetId, state, attempts, deferrals } of charges) {
      if (here.has(id ?? null)) broken(`charge ${id} is in the archive and in the ledger`);
      const isForgiven = scenario.thief || (scenario.forgetful && budgetId !== null);
      if (scenario.kindPayers && !isForgiven && (attempts as bigint) > (deferrals as bigint))
        broken(`charge ${id} has attempts though every payer could always pay`);
      // What was waived has no receipt.
      if (batchId === null || state === "voided") continue;
      const outcome = await prove(ledger, options.port, id as Hex);
      // A batch that was taken in from the chain has no receipts, or those of what it was before a thief settled its root.
      if (outcome.kind === "no_receipt" && (scenario.thief || scenario.forgetful || habits.unfaithful)) continue;
      const isProven = outcome.kind === "proof" && verifyProof(outcome.proof);
      if (!isProven && attempts === 0n) broken(`charge ${id} is in the archive and cannot be proven`);
    }
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
    checkAllWithin,
    checkEnd,
    // Whether somebody else has taken this lease over.
    async isOutdated({ operator, token }: Lease): Promise<boolean> {
      const [row] = await read.all("SELECT token FROM operators WHERE operator = $1", [operator.toLowerCase()]);
      return row !== undefined && Number(row.token) !== token;
    },
    // Nobody takes a lease over before it has run out, whatever daemons' clocks say.
    leased({ operator, holder }: Lease, ttlMs: number, nowMs: number): void {
      const before = leases.get(operator);
      if (before !== undefined && before.holder !== holder && before.untilMs > nowMs) {
        broken(`${holder} has taken the lease of ${operator} from ${before.holder} before it had run out`);
      }
      leases.set(operator, { holder, untilMs: nowMs + ttlMs });
    },
    released: ({ operator }: Lease) => leases.delete(operator),
    // The ledger was taken back to an earlier moment, and its leases with it.
    restored: () => {
      moment += 1;
      restores += 1;
      leases.clear();
    },
    // What somebody else then uses of a key is taken for what the ledger has forgotten.
    fenced: () => {
      isFenced = true;
    },
    // Blocks that were final are not: everything is counted again.
    undone(): void {
      moment += 1;
      counted = 0;
      for (const sums of [settledCharges, settledAs, settledIn, chargedTo, earnedBy, paidUnder, stolenFrom])
        sums.clear();
      settledIds.clear();
      settledByUs.length = 0;
      operatorSpending.length = 0;
    },
    moment: () => moment,
    isEqual,
    limitsHit: () => limitsHit,
    aboveLimit: () => aboveLimit,
    reported(event: EngineEvent): void {
      if (event.kind === "halted") {
        alerts.add(event.reason);
        const [, operator, from, to = from] = FOREIGN_NONCES.exec(event.reason) ?? [];
        for (let nonce = Number(from); nonce <= Number(to); nonce++) foreign.add(`${operator} ${nonce}`);
      }
      if (event.kind === "holding" && event.reason.startsWith("the limit of")) limitsHit += 1;
      if (event.kind === "above_limit") aboveLimit += 1;
      if (event.kind === "key_used_elsewhere") {
        alarms.push(event);
        foreign.add(`${event.operator} ${event.nonce}`);
      }
    },
    wroteWithoutLease: (verb: string) => broken(`${verb} changed the ledger with a lease that was lost`),
    planned: (batch: Batch, charges: readonly DueCharge[]) => {
      const { batchId, receipts, calldata } = batch;
      options.planned(batch, charges);
      receiptsOf.set(batchId, receipts);
      plannedRows.set(batchId, rowsOf(calldata));
      for (const { id, for: subject } of charges) if (subject.kind === "tool") toolOf.set(id, subject.toolId);
    },
    // Asked when a call was held or a turn recorded.
    checkCredit,
    checkHeld,
    // Asked when a batch was planned.
    checkPlanned,
    capturedTurns: () => capturedTurns,
    isOwedOnly,
    // Told by the ledger when bytes are in it.
    saved: (raw: Hex) => savedAfter.set(raw, restores),
    // Asked by the chain when it is handed bytes.
    async sent(raw: Hex): Promise<void> {
      const bytes = transactionOf(raw);
      sentBytes.set(bytes.hash, bytes);
      const [saved] = await read.all("SELECT tx_hash FROM broadcasts WHERE raw = $1", [raw]);
      if (saved !== undefined) return;
      // A failover may lose them between the commit and the send, which nobody can do at once.
      if ((savedAfter.get(raw) ?? restores) < restores) return;
      // A process that was frozen may send what is long final.
      const isArchived = (await options.archived()).some(({ broadcasts }) => broadcasts.some((row) => row.raw === raw));
      if (!isArchived) broken("bytes were sent that are not in the ledger");
    },
  };
}

const FOREIGN_NONCES = /^(0x\w+) has used nonce (\d+)(?: to (\d+))?,/;

// What a batch charges, whatever it follows.
function rowsOf(calldata: Hex): string {
  const { toolIds, rows } = decodeSettle(calldata);
  return JSON.stringify([toolIds, rows], (_, value) => (typeof value === "bigint" ? value.toString() : value));
}

// The wallet and what is prepaid are spent one after the other.
function initialFundsOf(protocol: Protocol, payer: Address): bigint {
  return fundsOf(protocol, payer) + prepaidOf(protocol, payer).balance;
}

function add(sums: Map<string, bigint>, key: string, amount: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}
