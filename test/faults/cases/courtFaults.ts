import assert from "node:assert/strict";
import { until } from "../../../scripts/waiting/until.ts";
import { mined } from "../../../scripts/world/mined.ts";
import type { KeyedAccount } from "../../../scripts/world/parties.ts";
import type { Failpoint } from "../../../settlement/engine/context.ts";
import type { ContestView } from "../../../settlement/views/batches/contest.ts";
import { contestRow, settlementOf } from "../../local/court/contestRow.ts";
import type { Stage } from "../stage/stage.ts";
import { mempoolHas } from "./chainFaults.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";

const KILLED = { code: null, signal: "SIGKILL" };
const STOPPED = { code: 0, signal: null };
const LIVES: readonly Failpoint[] = ["before_sign", "after_sign", "after_save", "after_send"];
const DAY_S = 86_400;
const ANSWERED = 2n;
const DEPOSIT = 1_000_000n;

const payerOf = (stage: Stage) => stage.world.payers[0] as KeyedAccount;
const noncesOf = ({ world, operator }: Stage) => world.provider.getTransactionCount(operator.address);
const creditOf = ({ world, operator }: Stage) => world.bonds.creditOf(operator.address);
const bondOf = async ({ world, operator }: Stage) => (await world.bonds.bondOf(operator.address)).amount;

// A batch that is final, and the row of a payer in it.
async function settledRow(stage: Stage) {
  await stage.start();
  await stage.recordTurns();
  await stage.settled();
  const [newest] = await stage.batches();
  assert.ok(newest?.txHash);
  return { batchId: newest.batchId, txHash: newest.txHash };
}

const answered = (stage: Stage, batchId: string) =>
  until("the contest to be answered", async () => {
    const { stage: reached } = await stage.world.receiptCourt.contestOf(batchId, stage.payer(0));
    return reached === ANSWERED;
  });

async function contestView(stage: Stage): Promise<ContestView> {
  const { body } = await stage.daemon.ask("GET", "/v1/contests");
  const [contest] = (body as unknown as { contests: ContestView[] }).contests;
  assert.ok(contest);
  return contest;
}

// In a block of its own, on a chain that makes none by itself.
async function contest(stage: Stage, txHash: string): Promise<void> {
  const { world, sequencer } = stage;
  const [payer, { receiptCourt, bonds, usdc }] = [payerOf(stage), world];
  const approval = await usdc.connect(payer).approve(bonds, DEPOSIT);
  await sequencer.mine();
  await mined(approval);
  const contested = await receiptCourt.connect(payer).contest(await settlementOf(world, txHash), payer.address);
  await sequencer.mine();
  await mined(contested);
}

const cases: FaultCase[] = [
  {
    number: 65,
    fault: "kill −9 in the middle of an answer",
    injected: `a payer contests a row; the daemon kills itself ${LIVES.length} times: before and after it signs the answer, after it saves and after it sends it`,
    claim: "a contested row is answered with one transaction, and its deposit is the operator's",
    async run(stage) {
      const { batchId, txHash } = await settledRow(stage);
      assert.deepEqual(await stage.daemon.stop(), STOPPED);
      const [nonces, bond] = [await noncesOf(stage), await bondOf(stage)];
      await contestRow(stage.world, txHash, payerOf(stage));
      for (const killAt of LIVES) {
        const daemon = await stage.spawn({ plan: { killAt } });
        await daemon.listening().catch(() => undefined);
        assert.deepEqual(await daemon.ended(), KILLED, `it is killed ${killAt}`);
      }
      await stage.start();
      await answered(stage, batchId);
      await stage.recordTurns(1);
      await stage.settled();
      assert.equal(await noncesOf(stage), nonces + 2, "one answer, and the batch after it");
      assert.equal(await creditOf(stage), DEPOSIT);
      assert.equal(await bondOf(stage), bond);
      return {
        happened: `killed ${LIVES.length} times; one answer is mined, the deposit is the operator's, and the next batch settles`,
        balances: await stage.balances(),
      };
    },
  },
  {
    number: 66,
    fault: "A reorg between a contest and its answer",
    injected:
      "`anvil_reorg` takes out the block of the contest while the answer waits in the mempool; then it is contested again",
    claim: "an answer that came to nothing is given again, and costs no bond",
    async run(stage) {
      const { batchId, txHash } = await settledRow(stage);
      const bond = await bondOf(stage);
      await stage.sequencer.stall();
      await contest(stage, txHash);
      await mempoolHas(stage, 1);
      await stage.sequencer.reorg(1);
      // The court has not heard of the contest, and the answer reverts.
      await stage.sequencer.mine();
      await until("the answer to come to nothing", async () => (await contestView(stage)).answer?.state === "reverted");
      await contest(stage, txHash);
      stage.sequencer.resume();
      await answered(stage, batchId);
      const { answers } = await contestView(stage);
      await stage.recordTurns(1);
      await stage.settled();
      assert.equal(answers, 2);
      assert.equal(await creditOf(stage), DEPOSIT);
      assert.equal(await bondOf(stage), bond);
      return {
        happened: "the first answer reverts, the second is taken; the bond is whole, and the next batch settles",
        balances: await stage.balances(),
      };
    },
  },
  {
    number: 67,
    fault: "The daemon is down for most of the time in which a contest can be answered",
    injected: "it is stopped, a row is contested, and it is started again an hour before the three days are over",
    claim: "a contest that was made while nobody looked is answered after the start",
    async run(stage) {
      const { batchId, txHash } = await settledRow(stage);
      assert.deepEqual(await stage.daemon.stop(), STOPPED);
      const bond = await bondOf(stage);
      await contestRow(stage.world, txHash, payerOf(stage));
      await stage.world.rpc("evm_increaseTime", [3 * DAY_S - 3_600]);
      await stage.sequencer.mine(3);
      await stage.start();
      await answered(stage, batchId);
      assert.equal(stage.daemon.alerts("contested").length, 1);
      await stage.recordTurns(1);
      await stage.settled();
      assert.equal(await creditOf(stage), DEPOSIT);
      assert.equal(await bondOf(stage), bond);
      return {
        happened: "alert `contested`, answered in the last hour; the bond is whole, and the next batch settles",
        balances: await stage.balances(),
      };
    },
  },
];

export const courtFaults: FaultGroup = { name: "The receipt court", cases };
