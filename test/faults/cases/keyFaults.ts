import assert from "node:assert/strict";
import { until } from "../../../scripts/waiting/until.ts";
import { mined } from "../../../scripts/world/mined.ts";
import { settleCommand } from "../../local/daemon/testDaemon.ts";
import { linesOfPage, runLine, walkRestore } from "./adversaryFaults.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";

// Whoever is left has this key alone.
const REST = { keystore: "peer" } as const;

const cases: FaultCase[] = [
  {
    number: 68,
    fault: "A restored ledger has a key that no process has any more",
    injected:
      "one key settles, and another in its place; a backup; a batch more; then the restore of docs/production.md, line by line, without the first key",
    claim:
      "what the lost key may have signed is fenced off until the router refuses it for good; then the others go on, and nobody is charged twice",
    async run(stage) {
      await stage.start();
      await stage.recordTurns(6);
      await stage.settled();
      await stage.daemon.stop();
      await stage.start(REST);
      await stage.recordTurns(6);
      await stage.settled();
      for (const line of linesOfPage("## Backup and restore")) await runLine(stage, line, REST);
      const settledSince = await stage.recordTurns(6);
      await stage.settled();
      await walkRestore(stage, REST);
      for (const turn of settledSince) await stage.platform.deliver(turn);
      await stage.recordTurns(6);

      const lost = stage.operator.address;
      const waits = new RegExp(`until the nonces of ${lost} are final; if no process has that key any more`, "i");
      await until("the alert", () => stage.daemon.alerts("holding").some((message) => waits.test(message)));
      const [suspend = "", retire = ""] = linesOfPage("them is gone for good").map((line) => line.replace("0x…", lost));
      // Nothing is given up while the key could still settle.
      const early = await settleCommand(["reconcile", "--retire", lost], await stage.environment(REST));
      assert.match(early.stdout, /is not retired: it may still settle; let the guardian suspend it/);
      assert.equal(early.code, 1);
      assert.equal(suspend, `npx hardhat operator suspend ${lost} --network base`);
      const guardian = stage.world.router.connect(stage.world.parties.guardian);
      await mined(guardian.suspendOperator(lost));
      await until("that to be final", () =>
        runLine(stage, retire, REST).then(
          (said) => /is retired; 0 transactions of it are given up/.test(said),
          () => false,
        ),
      );
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened:
          "alert `holding` names the key; `reconcile --retire` refuses until its suspension is final; then all of it settles once",
        balances,
      };
    },
  },
];

export const keyFaults: FaultGroup = { name: "Keys that are gone", cases };
