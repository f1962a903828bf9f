import assert from "node:assert/strict";
import { until } from "../../../scripts/waiting/until.ts";
import { mined } from "../../../scripts/world/mined.ts";
import { encodeRows } from "../../../settlement/chain/router/encodeRows.ts";
import { settleCommand } from "../../local/daemon/testDaemon.ts";
import type { Stage } from "../stage/stage.ts";
import { FIRST, mempoolHas } from "./chainFaults.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";

const HOUR_MS = 3_600_000;

const halted = (stage: Stage) =>
  until("the alert", () => {
    const alerts = stage.daemon.alerts("halted");
    return alerts.length > 0 ? alerts : null;
  });

// Asks a person's command again until it lifts the halt: what is not final yet has to wait.
const reconciled = (stage: Stage, ...options: string[]) =>
  until("the halt to be lifted", async () => {
    const { stdout } = await settleCommand(["reconcile", ...options, "--resume"], await stage.environment());
    return /the halt is lifted/.test(stdout) ? stdout : null;
  });

const headOf = async (stage: Stage) => Number(await stage.world.rpc("eth_blockNumber"));

const cases: FaultCase[] = [
  {
    number: 63,
    fault: "A thief settles a pending root with other rows",
    injected:
      "while a batch waits in the mempool the operator's key settles its root on the same nonce, for one payer's model cost alone",
    claim:
      "what the thief's rows paid is paid, and the rest of the batch, whose root nobody can settle again, settles once",
    async run(stage) {
      await stage.sequencer.stall();
      await stage.start();
      // One turn is one batch, whenever the daemon looks: one before the thief's and one behind it.
      const before = await followedBy(stage, null);
      const { batchId, nonce, modelCost } = await followedBy(stage, before.batchId);
      await followedBy(stage, batchId);
      const rows = encodeRows([{ payer: stage.payer(0), modelCost, lines: [] }]);
      const router = stage.world.router.connect(stage.operator);
      await router.settle(before.batchId, batchId, [], rows, { ...FIRST, nonce: nonce ?? 0, gasLimit: 1_000_000n });
      await stage.sequencer.mine();
      const [message = ""] = await halted(stage);
      assert.match(message, /with other rows|which has other rows|has used nonce/);
      const early = await settleCommand(["reconcile", "--adopt", "--resume"], await stage.environment());
      assert.match(early.stdout, /has other rows in the ledger; once the chain calls it final --adopt takes it in/);
      assert.equal(early.code, 1);
      stage.sequencer.resume();
      assert.match(await reconciled(stage, "--adopt"), /is taken in: it paid 1 charges, and 0.00 USDC that no charge/);
      await stage.settled();
      const balances = await stage.balances();
      return {
        happened:
          "alert `halted`; `reconcile --adopt` waits until it is final, takes it in, and the rest makes another batch",
        balances,
      };
    },
  },
  {
    number: 64,
    fault: "A final block is undone in which a row had failed",
    injected:
      "a payer revokes before its batch is mined, allows again and pays in the next; both are final when `anvil_reorg` takes them and the revocation out",
    claim: "the first batch, which could now take what the second takes, never comes back, and everybody pays once",
    async run(stage) {
      await stage.sequencer.mine(6);
      await stage.sequencer.stall();
      const before = await headOf(stage);
      await stage.start({ plan: { policy: { firstRetryMs: HOUR_MS, maxRetryMs: HOUR_MS } } });
      await stage.recordTurns(6);
      const { batchId } = await stage.submitted();
      const [payer] = stage.world.payers;
      assert.ok(payer);
      const usdc = stage.world.usdc.connect(payer);
      await usdc.approve(stage.world.router, 0n, FIRST);
      await mempoolHas(stage, 2);
      stage.sequencer.resume();
      await until("the row to fail", async () => (await stage.batch(batchId)).state === "final");
      await mined(usdc.approve(stage.world.router, 10n ** 12n));
      stage.daemon.tell({ clockOffsetMs: 2 * HOUR_MS });
      await stage.settled();
      await stage.daemon.stop();
      await stage.sequencer.stall();
      await stage.sequencer.reorg((await headOf(stage)) - before);
      await stage.sequencer.mine(3);
      await stage.start();
      await halted(stage);
      stage.sequencer.resume();
      const said = await reconciled(stage, "--reopen", "--adopt");
      assert.match(said, new RegExp(`batch ${batchId} is given up, and its \\d+ charges are due again`));
      stage.daemon.tell({ clockOffsetMs: 4 * HOUR_MS });
      await stage.settled();
      const balances = await stage.balances();
      return {
        happened:
          "alert `halted`; `reconcile --reopen` gives the first batch up and fences its key; when the nonces are final all settles again",
        balances,
      };
    },
  },
];

export const reconcileFaults: FaultGroup = { name: "Ways out", cases };

// Records a turn, which makes a batch of its own, behind the one that was there before.
async function followedBy(stage: Stage, last: string | null) {
  const [turn] = await stage.recordTurns(1);
  const modelCost = turn?.modelCost ?? 0n;
  await until("a batch to follow", async () => (await stage.submitted()).batchId !== last);
  return { ...(await stage.submitted()), modelCost };
}
