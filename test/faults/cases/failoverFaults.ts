import assert from "node:assert/strict";
import { until } from "../../../scripts/waiting/until.ts";
import { startTcpProxy } from "../proxies/tcpProxy.ts";
import { linesOfPage, runLine } from "./adversaryFaults.ts";
import { mempoolHas } from "./chainFaults.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";

const targetOf = (url: string) => {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
};

const cases: FaultCase[] = [
  {
    number: 74,
    fault: "A PostgreSQL failover loses the last commits",
    injected:
      "a standby stops following; a batch is settled and one waits unmined; the primary dies, the standby is promoted and has its address; then what docs/production.md says, line by line",
    claim: "nobody is charged twice: what was settled is taken in, and what was signed and forgotten is fenced off",
    async run(stage) {
      const { server, database } = await stage.postgres();
      const standby = await server.startStandby();
      const proxy = await startTcpProxy(targetOf(server.url));
      try {
        const ledger = `${server.url.replace(/\d+$/, `${proxy.port}`)}/${database}`;
        await stage.start({ ledger, plan: { policy: { leaseMs: 1_500 } } });
        await stage.recordTurns(6);
        await stage.settled();
        await until("the standby to catch up", standby.hasAll);
        await standby.interrupt();
        const settledSince = await stage.recordTurns(6);
        await stage.settled();
        await stage.sequencer.stall();
        const waiting = await stage.recordTurns(6);
        await mempoolHas(stage, 1);
        const planned = stage.daemon.events("planned").length;

        await server.interrupt();
        await standby.promote();
        proxy.moveTo(targetOf(standby.url));
        await until("the move to be noticed", () => stage.daemon.alerts("ledger_moved").length > 0);
        await until("the halt", () => stage.daemon.alerts("halted").length > 0);
        // A filler in the place of what was forgotten.
        await until("the forgotten bytes to be replaced", () => stage.daemon.events("replaced").length > 0);
        // The platform did not wait for a person.
        for (const turn of [...settledSince, ...waiting]) await stage.platform.deliver(turn);
        let said = "";
        for (const line of linesOfPage("**A failover that lost commits.**")) {
          said += await runLine(stage, line, { ledger });
        }
        assert.match(said, /is taken in: it paid \d+ charges[\s\S]*the halt is lifted/);
        // What was reported again waits until nothing that was forgotten can be mined.
        assert.equal(stage.daemon.events("planned").length, planned);
        stage.sequencer.resume();
        await stage.settled();
        const balances = await stage.balances();
        assert.equal(balances.attempts, 0);
        return {
          happened:
            "alerts `ledger_moved` and `halted`; one batch taken in, fillers in the place of the forgotten one; what was reported again settles once",
          balances,
        };
      } finally {
        await stage.daemon.kill();
        await proxy.stop();
      }
    },
  },
];

export const failoverFaults: FaultGroup = { name: "Failovers", cases };
