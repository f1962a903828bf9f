import { fillerOf } from "../../../../settlement/domain/batch/submission.ts";
import { SettlementError } from "../../../../settlement/domain/errors.ts";
import { hashOf, ROUTER } from "../../../../settlement/ledger/testing/fixtures.ts";
import type { Rng } from "../../rng.ts";
import type { Daemon, Deed } from "../daemon.ts";
import { PAYERS, SHARED_KEY } from "./names.ts";

// Longer than any run.
const LEASE_MS = 86_400_000;

// What is done about keys: fences after a move, halts, what is sent beside batches, and a key that two daemons have.
export function drawKeys(rng: Rng): Deed[] {
  const [n, nonce, payer] = [rng.between(1, 1_000_000), rng.between(1_000, 2_000), rng.pick(PAYERS)];
  const [bound, retires] = [rng.happens(0.5) ? rng.between(1, 5) : null, rng.happens(0.05)];
  return [
    {
      name: "move home",
      run: async ({ ledger, lease, reached }) => {
        await ledger.fenceOff();
        // A move takes every lease away.
        const again = await ledger.acquireLease(lease.operator, lease.holder, LEASE_MS);
        if (again === null) return;
        await ledger.setFence(again, nonce, 0);
        await ledger.planFiller(again, { ...fillerOf(again.operator, nonce), nonce }, n);
        await ledger.removeFence(again, nonce);
        reached("a key is fenced off and let go on");
      },
    },
    { name: "bound rows", run: ({ ledger, lease }) => ledger.setRowBound(lease, bound) },
    {
      name: "pay out",
      run: ({ ledger, lease, nowMs }) =>
        ledger.planSubmission(
          lease,
          { id: hashOf(`payout ${n}`), kind: "payout", to: ROUTER, calldata: "0x02", nonce: null },
          nowMs(),
        ),
    },
    {
      name: "halt and resume",
      run: async ({ ledger, nowMs }) => {
        const { lifted } = await ledger.beginToLook();
        await ledger.halt(`reason ${n}`, nowMs(), lifted).catch(ignoreFence);
        const halt = await ledger.readHalt();
        if (halt !== null) await ledger.resume(halt);
      },
    },
    {
      name: "note final",
      run: ({ ledger }) => ledger.noteFinalized({ number: BigInt(n), hash: hashOf(`block ${n}`) }),
    },
    {
      name: "share a key",
      run: (daemon) => shareKey(daemon, n, retires),
    },
    {
      name: "contest",
      run: async ({ ledger, lease, nowMs, reached }) => {
        const batch = (await ledger.listBatches(1_000, 0)).find(({ state }) => state === "final");
        if (batch === undefined) return;
        const { batchId } = batch;
        const row = { batchId, account: payer, operator: lease.operator, contester: payer };
        await ledger.noteContests(
          [{ ...row, charged: 1n, untilMs: nowMs() + 60_000, lines: [], blockNumber: BigInt(n) }],
          nowMs(),
        );
        const answer = { batchId, account: payer, court: ROUTER, calldata: "0x03", answers: 0 } as const;
        const planned = await ledger.planAnswer(lease, answer, nowMs());
        const closed = await ledger.closeContest(lease, batchId, payer, "answered");
        if (planned !== null && closed) reached("a row is contested and answered");
      },
    },
  ];
}

// Whoever has the lease writes. It is given back, and whoever still has it in hand afterwards writes nothing once another has it.
async function shareKey({ ledger, lease: { holder }, nowMs, reached, broken }: Daemon, n: number, retires: boolean) {
  const lease = await ledger.acquireLease(SHARED_KEY, holder, LEASE_MS);
  if (lease === null) return;
  const payout = (id: string) =>
    ({ id: hashOf(id), kind: "payout", to: ROUTER, calldata: "0x02", nonce: null }) as const;
  await ledger.planSubmission(lease, payout(`shared ${n}`), nowMs());
  if (retires) await ledger.retire(lease, nowMs());
  await ledger.releaseLease(lease);
  const wrote = await ledger.planSubmission(lease, payout(`late ${n}`), nowMs()).then(
    () => true,
    (error: unknown) => {
      ignoreFence(error);
      return false;
    },
  );
  if (wrote) broken(`${holder} wrote with a lease that it had given back`);
  else reached("a lease that was lost is refused");
}

function ignoreFence(error: unknown): void {
  if (!(error instanceof SettlementError && error.code === "fenced")) throw error;
}
