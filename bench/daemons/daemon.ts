// One of several daemons on a PostgreSQL, as far as the ledger sees it. It does what its parent says, and ends with it.
import type { Hex } from "viem";
import { openLedger } from "../../settlement/ledger/openLedger.ts";
import {
  accountOf,
  HASHES,
  hashOf,
  inclusionAt,
  leaseOf,
  netOf,
  outcomeOf,
  POLICY,
  RETRY,
  RICH,
  ROUTER,
  toolOf,
  turnOf,
  usdc,
} from "../../settlement/ledger/testing/fixtures.ts";
import { PAYERS, payerOf, type Report, SESSIONS, type Task } from "./workload.ts";

const [location = "", name = ""] = process.argv.slice(2);
const ledger = await openLedger(location);
const lease = await leaseOf(ledger, accountOf(0xdae00 + Number(name)), name);
let names = 0;

// Callers who each wait for their answer before they ask for the next thing, until the time is over.
async function ask(
  { callers, measuredMs }: { callers: number; measuredMs: number },
  once: (n: number) => Promise<void>,
) {
  let done = 0;
  const endMs = performance.now() + measuredMs;
  const caller = async () => {
    for (; performance.now() < endMs; done += 1) await once(names++);
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return done;
}

async function report(n: number): Promise<void> {
  await ledger.recordTurn(turnOf(`${name} ${n}`, { payer: payerOf(n) }), Date.now());
}

async function call(n: number): Promise<void> {
  const callId = `${name} ${n}`;
  const [sessionId, nowMs] = [`${n % SESSIONS}`, Date.now()];
  await ledger.hold({ callId, sessionId, toolId: toolOf(1), method: "m", amount: usdc(1) }, RICH, nowMs);
  await ledger.capture({ callId, hashes: HASHES }, POLICY, nowMs);
}

// Everything that is due, batch by batch, as its key's engine would write it down.
async function settle(maxCharges: number): Promise<number> {
  let done = 0;
  for (;;) {
    const nowMs = Date.now();
    const due = await ledger.listDuePayers(nowMs, PAYERS);
    if (due.length === 0) return done;
    const accounts = due.map(({ chargedTo }) => chargedTo);
    const request = { accounts, maxCharges, router: ROUTER, net: netOf(), retry: RETRY };
    const batch = await ledger.planBatch(lease, request, nowMs);
    // The others have all of it locked.
    if (batch === null) continue;
    await finish(batch.id, nowMs);
    done += (await ledger.findBatch(batch.id))?.charges ?? 0;
  }
}

async function finish(batchId: Hex, nowMs: number): Promise<void> {
  const { nonce } = await ledger.assignNonce(lease, batchId, 0, 1_000_000n);
  const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
  await ledger.saveBroadcast(lease, batchId, {
    txHash: hashOf(`${name} ${nonce}`),
    raw: "0x02",
    ...fees,
    signedAtMs: nowMs,
  });
  await ledger.recordInclusion(lease, batchId, inclusionAt(1n), "success", outcomeOf());
  await ledger.finalize(lease, batchId, outcomeOf(), RETRY, nowMs);
}

async function perform(task: Task): Promise<number> {
  if (task.kind === "settle") return settle(task.maxCharges);
  return ask(task, task.kind === "turns" ? report : call);
}

process.on("message", async (task: Task) => {
  const answer: Report = { done: await perform(task) };
  process.send?.(answer);
});
process.once("disconnect", () => process.exit());
process.send?.({ done: 0 } satisfies Report);
