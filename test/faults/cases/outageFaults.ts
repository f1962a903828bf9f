import assert from "node:assert/strict";
import { until } from "../../../scripts/waiting/until.ts";
import { administer } from "../../../settlement/ledger/testing/startPostgres.ts";
import { settleCommand } from "../../local/daemon/testDaemon.ts";
import type { RpcAnswer, RpcProxy, RpcRequest } from "../proxies/rpcProxy.ts";
import { bodyOf } from "../stage/platform.ts";
import { hexOf } from "../stage/sequencer.ts";
import type { Stage } from "../stage/stage.ts";
import { linesOfPage, runLine } from "./adversaryFaults.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";

const GWEI = 10n ** 9n;
const CEILING = 5n * GWEI;
const MANY_LOOKS = 8;
// Far enough ahead to make others look behind, and not ahead of the daemon's clock.
const INVENTED = { blocks: 100, seconds: 200, clockMs: 600_000 };

// From now on the endpoint goes on with blocks of its own, and calls what the others stand at final.
function inventBlocks(endpoint: RpcProxy, { world }: Stage): () => void {
  async function answer(real: RpcAnswer, { params }: RpcRequest): Promise<RpcAnswer> {
    if (params[0] === "finalized")
      return { ...real, result: await world.rpc("eth_getBlockByNumber", ["latest", false]) };
    if (params[0] !== "latest") return real;
    const head = real.result as { number: string; timestamp: string };
    const number = hexOf(Number(head.number) + INVENTED.blocks);
    const timestamp = hexOf(Number(head.timestamp) + INVENTED.seconds);
    return { ...real, result: { ...head, number, timestamp, hash: `0x${"1e".repeat(32)}` } };
  }
  return endpoint.rule({ method: "eth_getBlockByNumber", action: { kind: "exchange", answer } });
}

const cases: FaultCase[] = [
  {
    number: 75,
    fault: "Gas costs more than half of the fee ceiling",
    injected: "every block has a base fee of 4 gwei, and the ceiling is 5 gwei per gas",
    claim: "a batch is sent for as long as the ceiling covers what the next block asks for",
    async run(stage) {
      await stage.sequencer.setBaseFee(4n * GWEI);
      await stage.sequencer.mine();
      await stage.start();
      await stage.recordTurns();
      await stage.settled();
      const offered = stage.signed().map(({ maxFeePerGas }) => maxFeePerGas);
      assert.ok(offered.length > 0 && offered.every((fee) => fee > 4n * GWEI && fee <= CEILING));
      assert.equal(stage.daemon.alerts("holding").length, 0);
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return { happened: "settled at the ceiling, which is less than twice the base fee, without an alert", balances };
    },
  },
  {
    number: 76,
    fault: "PostgreSQL only reads",
    injected: "the database is switched to read-only transactions and its connections are ended; later it writes again",
    claim: "what cannot be written is refused with 503 and Retry-After, and goes on by itself",
    async run(stage) {
      const { server, database } = await stage.postgres();
      const alter = async (setting: string) => {
        await administer(server.url, `ALTER DATABASE ${database} SET default_transaction_read_only = ${setting}`);
        await administer(
          server.url,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`,
        );
      };
      const daemon = await stage.start({ ledger: `${server.url}/${database}` });
      await stage.recordTurns(6);
      await stage.settled();
      await alter("on");
      const later = Array.from({ length: 6 }, (_, i) => stage.turnOf(i + 6));
      for (const turn of later) {
        const { status, headers, body } = await daemon.ask("POST", "/v1/turns", bodyOf(turn));
        assert.equal(status, 503, JSON.stringify(body));
        assert.ok(Number(headers.get("retry-after")) > 0);
      }
      await until("the alert", () => daemon.alerts("ledger_unavailable").length > 0);
      await alter("off");
      for (const turn of later) await stage.platform.deliver(turn);
      await stage.settled();
      const balances = await stage.balances();
      return {
        happened: "503 with Retry-After and an alert while it only reads; then all of it settles once",
        balances,
      };
    },
  },
  {
    number: 77,
    fault: "An older copy of the ledger is audited before anybody has taken in what was settled since",
    injected:
      "a backup, and a batch that is settled after it; the copy is put in the place of the ledger and audited at once",
    claim: "a batch on chain that the ledger does not know is a difference, and halts, whoever finds it first",
    async run(stage) {
      await stage.start();
      await stage.recordTurns(6);
      await stage.settled();
      for (const line of linesOfPage("## Backup and restore")) await runLine(stage, line);
      const since = await stage.recordTurns(6);
      await stage.settled();
      const right = await settleCommand(["audit"], await stage.environment());
      assert.match(right.stdout, /^the ledger is right: 2 batches$/m);
      await stage.daemon.stop();
      for (const line of linesOfPage("To restore:").filter((line) => /^(rm|cp|mv) /.test(line))) {
        await runLine(stage, line);
      }
      const found = await settleCommand(["audit"], await stage.environment());
      assert.equal(found.code, 1);
      assert.match(found.stdout, /not in the ledger/);
      await stage.start();
      assert.match((await stage.ready()).components.settlement?.reason ?? "", /^halted: /);
      for (const turn of since) await stage.platform.deliver(turn);
      const adopted = await settleCommand(["reconcile", "--adopt", "--resume"], await stage.environment());
      assert.match(adopted.stdout, /is taken in: it paid 18 charges[\s\S]*the halt is lifted/);
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      assert.equal((await settleCommand(["audit"], await stage.environment())).code, 0);
      return {
        happened: "`audit` names the batch, ends with 1 and halts; taken in, what was reported again is paid by it",
        balances,
      };
    },
  },
  {
    number: 78,
    fault: "An endpoint invents blocks while the sequencer stands still",
    injected:
      "the first of three endpoints names blocks that are not there and calls the head of the others final; the batch in that head is then left by a reorg",
    claim: "one that is alone ahead of two others is not believed, and nothing becomes final by it",
    async run(stage) {
      const endpoints = [stage.endpoint, await stage.addEndpoint(), await stage.addEndpoint()];
      await stage.sequencer.stall();
      await stage.start({ endpoints });
      await stage.recordTurns();
      const { batchId } = await stage.submitted();
      await until("the send", () => stage.outcomes().length > 0);
      await stage.sequencer.mine();
      const stateOf = async () => (await stage.batch(batchId)).state;
      await until("the batch to be included", async () => (await stateOf()) === "included");
      stage.daemon.tell({ clockOffsetMs: INVENTED.clockMs });
      const goOn = inventBlocks(stage.endpoint, stage);
      await until("the alert", () => stage.daemon.alerts("endpoint_contradicts").length > 0);
      const looks = () => endpoints.at(-1)?.asked.filter(({ params }) => params[0] === "finalized").length ?? 0;
      const before = looks();
      await until("several looks", () => looks() > before + MANY_LOOKS);
      assert.equal(await stateOf(), "included");
      goOn();
      await stage.sequencer.reorg(1);
      stage.sequencer.resume();
      await stage.settled();
      assert.equal(stage.daemon.alerts("halted").length, 0);
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened: "alert `endpoint_contradicts`; the batch stays included, is lost by the reorg and settles once",
        balances,
      };
    },
  },
];

export const outageFaults: FaultGroup = { name: "Fees, servers, audits and endpoints", cases };
