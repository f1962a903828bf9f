import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../scripts/waiting/until.ts";
import { openLedger } from "../../../settlement/ledger/openLedger.ts";
import type { Turn } from "../stage/platform.ts";
import { PAYERS, TURN_CHARGES } from "../stage/stage.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";

const KILLED = { code: null, signal: "SIGKILL" };
const STOPPED = { code: 0, signal: null };
// In each of its lives the daemon gets one block further.
const LIVES = ["after_archive_written", "after_archive_moved", "after_archive_moved", "after_archive_moved"] as const;
// What is final is old at once, and there are several files of several blocks.
const ARCHIVE = { afterMs: 0, limits: { chargesPerFile: 24, chargesPerBlock: 4 } };

const cases: FaultCase[] = [
  {
    number: 62,
    fault: "kill −9 in the middle of an archive",
    injected: `${LIVES.length} lives of one daemon; each kills itself after a file was written or a block has left, with new turns in each`,
    claim:
      "what is being archived is in the ledger or in the archive, once; what was acknowledged meanwhile is there too",
    async run(stage) {
      await stage.start();
      const turns = await stage.recordTurns();
      await stage.settled();
      assert.deepEqual(await stage.daemon.stop(), STOPPED);

      const folder = join(stage.folder, "archive");
      const options = { environment: { SETTLEMENT_ARCHIVE: folder }, plan: { policy: { archive: ARCHIVE } } };
      const late: Turn[] = [];
      for (const killAt of LIVES) {
        const daemon = await stage.spawn({ ...options, plan: { ...options.plan, killAt } });
        await daemon.listening().catch(() => undefined);
        late.push(stage.turnOf(late.length % PAYERS));
        await stage.platform.offer(late.at(-1) as Turn);
        assert.deepEqual(await daemon.ended(), KILLED, `it is killed ${killAt}`);
        const ledger = await openLedger(stage.ledger, { archive: folder });
        assert.deepEqual(await ledger.audit(), [], "every sum is that of the ledger and the archive together");
        await ledger.close();
      }

      const last = await stage.start(options);
      await until("the archive to be done", () => last.events("archived").length > 0);
      await Promise.all(late.map(stage.platform.deliver));
      // A platform that has lost its notes reports everything once more.
      await Promise.all(turns.map(stage.platform.deliver));
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.charges, (turns.length + late.length) * TURN_CHARGES);
      assert.ok(readdirSync(folder).length > 1);
      for (const { turnId } of turns) {
        const { charges } = (await last.ask("GET", `/v1/turns/${turnId}`)).body as { charges?: { chargeId: string }[] };
        for (const { chargeId } of charges ?? []) {
          const { status, body } = await last.ask("GET", `/v1/charges/${chargeId}/proof`);
          assert.equal(status, 200);
          assert.notEqual(body.settledAt, null, "it is proven against the root on chain");
        }
      }
      assert.deepEqual(await last.stop(), STOPPED);
      const ledger = await openLedger(stage.ledger, { archive: folder });
      assert.deepEqual(await ledger.audit(), []);
      for (const { turnId } of turns) {
        assert.equal((await ledger.listChargesOf({ turnId })).length, TURN_CHARGES);
      }
      await ledger.close();
      return {
        happened: `killed ${LIVES.length} times, the sums right each time; the last life ends it, and every charge is proven from there`,
        balances,
      };
    },
  },
];

export const archiveFaults: FaultGroup = { name: "The archive", cases };
