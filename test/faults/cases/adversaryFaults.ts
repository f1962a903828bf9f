import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startProgram } from "../../../scripts/process/startProgram.ts";
import { until } from "../../../scripts/waiting/until.ts";
import { mined } from "../../../scripts/world/mined.ts";
import { encodeRows } from "../../../settlement/chain/router/encodeRows.ts";
import { settleCommand } from "../../local/daemon/testDaemon.ts";
import { stallEndpoint } from "../proxies/stall.ts";
import { PAYERS, type Stage, type StartOptions, TURN_CHARGES } from "../stage/stage.ts";
import { FIRST, mempoolHas, submitStalled } from "./chainFaults.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";

const nonEmpty = <T>(list: readonly T[]) => (list.length > 0 ? list : null);

// Chain and daemon are this much later at once, so that nobody waits for it.
export async function letTimePass(stage: Stage, seconds: number): Promise<void> {
  await stage.sequencer.mine();
  await stage.world.rpc("evm_increaseTime", [seconds]);
  stage.daemon.tell({ clockOffsetMs: seconds * 1_000 });
  await stage.sequencer.mine();
}

// The lines of a block of the page that the words before it lead to.
export function linesOfPage(before: string): string[] {
  const page = readFileSync("docs/production.md", "utf8");
  const block = page.slice(page.indexOf(before)).match(/```sh\n([\s\S]*?)```/)?.[1];
  return (block ?? "").trim().split("\n");
}

// Runs a line of the page in a shell, with the folders of the page in the place of this stage's.
export async function runLine(stage: Stage, line: string, options: StartOptions = {}): Promise<string> {
  // The folder of whoever runs this may have a space in its path.
  const here = line
    .replaceAll("/var/lib/context-settlement/ledger.db", `'${stage.ledger}'`)
    .replace(/\/backup\/ledger-.*?\.db/, `'${join(stage.folder, "copy.db")}'`);
  const { PATH } = process.env;
  const program = startProgram("bash", ["-ec", here], { env: { PATH, ...(await stage.environment(options)) } });
  const { code, stdout, stderr } = await program.ended;
  assert.equal(code, 0, `${here}\n${stdout}${stderr}`);
  return stdout;
}

// Everything that the page says about a restore, word for word; what systemd does is done to this stage's daemon.
export async function walkRestore(stage: Stage, options: StartOptions = {}): Promise<string> {
  const lines = linesOfPage("To restore:");
  assert.ok(lines.length > 4, "the page has its commands");
  let said = "";
  for (const line of lines) {
    if (line.startsWith("systemctl stop")) await stage.daemon.stop();
    else if (line.startsWith("systemctl start")) await stage.start(options);
    else said += await runLine(stage, line, options);
  }
  return said;
}

const cases: FaultCase[] = [
  {
    number: 47,
    fault: "The first endpoint stands still and goes on answering",
    injected: "two endpoints; the first answers for ten minutes as if no block had been made since",
    claim: "an endpoint that is behind is told apart from the chain, and settlement goes on through the other one",
    async run(stage) {
      const second = await stage.addEndpoint();
      await stage.start({ endpoints: [stage.endpoint, second] });
      await stage.recordTurns(6);
      await stage.settled();
      const goOn = await stallEndpoint(stage.endpoint, stage.world);
      await letTimePass(stage, 600);
      await stage.recordTurns(6);
      await stage.settled();
      const [message = ""] = await until("the alert", () => nonEmpty(stage.daemon.alerts("endpoint_stale")));
      // Both are true of it. Which one is said depends on whether it was asked before time passed.
      assert.match(
        message,
        /^Endpoint 1 (is at block \d+, \d+ s behind the others|stands still at block \d+ while others go on)\.$/,
      );
      assert.equal(await stage.metric('settlement_endpoint_fresh{endpoint="endpoint 1"}'), 0);
      goOn();
      await until(
        "it to be level again",
        async () => (await stage.metric('settlement_endpoint_fresh{endpoint="endpoint 1"}')) === 1,
      );
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened:
          "alert `endpoint_stale`; the second endpoint settles everything, and the first is used again when it has caught up",
        balances,
      };
    },
  },
  {
    number: 48,
    fault: "A ledger is restored from an older copy, with forgotten bytes in the mempool",
    injected:
      "a backup; then a batch that is settled and one that waits unmined; then the restore of docs/production.md, line by line",
    claim: "nobody is charged twice: what was settled is taken in, and what was signed and forgotten is fenced off",
    async run(stage) {
      await stage.start();
      await stage.recordTurns(6);
      await stage.settled();
      for (const line of linesOfPage("## Backup and restore")) await runLine(stage, line);
      const settledSince = await stage.recordTurns(6);
      await stage.settled();
      await stage.sequencer.stall();
      const waiting = await stage.recordTurns(6);
      await mempoolHas(stage, 1);

      const said = await walkRestore(stage);
      assert.match(said, /^the ledger was at a copy of file \S+ of \d+ and is now at file/m);
      for (const turn of [...settledSince, ...waiting]) await stage.platform.deliver(turn);
      // A filler in the place of what was forgotten, and no batch beside it.
      await until("the forgotten bytes to be replaced", () => stage.daemon.events("replaced").length > 0);
      assert.equal(stage.daemon.events("planned").length, 0);
      stage.sequencer.resume();
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened:
          "`reconcile` says that it is a copy; one batch taken in, fillers in the place of the forgotten one; what was reported again settles once",
        balances,
      };
    },
  },
  {
    number: 49,
    fault: "A final block is undone while the daemon is down",
    injected:
      "a batch is final and its daemon stopped; `anvil_reorg` takes it out, eight blocks deep; the daemon starts again",
    claim:
      "a batch that was final and is gone halts everything, and comes back on its way with its bytes, to settle once",
    async run(stage) {
      // So that what is undone is younger than the case.
      await stage.sequencer.mine(6);
      await submitStalled(stage);
      await stage.sequencer.mine(6);
      await stage.settled();
      await stage.daemon.stop();
      await stage.sequencer.reorg(8);
      await stage.sequencer.mine(3);
      await stage.start();
      await until("the alert", () => nonEmpty(stage.daemon.alerts("halted")));
      const plain = await settleCommand(["reconcile", "--resume"], await stage.environment());
      assert.match(plain.stdout, /the chain has undone it or never had it; --reopen puts it on its way again/);
      assert.equal(plain.code, 1);
      const reopened = await settleCommand(["reconcile", "--reopen", "--resume"], await stage.environment());
      assert.match(reopened.stdout, /is on its way again with 36 charges[\s\S]*the halt is lifted/);
      await stage.balances({ pending: PAYERS * TURN_CHARGES });
      stage.sequencer.resume();
      await stage.settled();
      const balances = await stage.balances();
      assert.deepEqual([balances.attempts, balances.transactions], [0, 1]);
      return {
        happened: "alert `halted` at the start; `reconcile --reopen` sends the same bytes again, and they settle",
        balances,
      };
    },
  },
  {
    number: 50,
    fault: "Another key takes a batch over on the same nonce number",
    injected:
      "two new keys; the first is suspended in the block of its first batch, and the second takes over while more comes in",
    claim: "what the first key signed on that number says nothing about the second key's batch",
    async run(stage) {
      await submitStalled(stage, 6);
      const guardian = stage.world.router.connect(stage.world.parties.guardian);
      await guardian.suspendOperator(stage.operator.address, FIRST);
      await mempoolHas(stage, 2);
      await stage.sequencer.mine(4);
      await until("the batch to be given up", () => stage.daemon.events("abandoned").length === 1);
      await stage.daemon.stop();
      await stage.start({ keystore: "peer" });
      await until("the second key's batch", () => stage.daemon.events("sent").length > 0);
      assert.deepEqual([...new Set(stage.signed().map(({ nonce }) => nonce))].length, 1, "both have the same nonce");
      // Often enough to have looked at what the first key's bytes came to, while its own wait.
      const ticks = () => stage.metric("settlement_tick_seconds_count");
      const before = await ticks();
      await until("a few ticks", async () => (await ticks()) > before + 3);
      await stage.recordTurns(6);
      stage.sequencer.resume();
      await stage.settled();
      assert.equal(stage.daemon.events("abandoned").length, 0);
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened: "given up once, by the first key; the second settles it and what came after, each once",
        balances,
      };
    },
  },
  {
    number: 51,
    fault: "A thief settles an invented batch with an idle operator's key",
    injected: "the operator's key settles a batch that no ledger has made, between two batches of the daemon",
    claim: "a batch of our key that the ledger does not know halts everything, and once taken in it is nobody's charge",
    async run(stage) {
      await stage.start();
      await stage.recordTurns(6);
      await stage.settled();
      const rows = encodeRows([{ payer: stage.payer(0), modelCost: 1_000n, lines: [] }]);
      const router = stage.world.router.connect(stage.operator);
      await mined(router.settle(await router.headOf(stage.operator), `0x${"7".repeat(64)}`, [], rows));
      const [message = ""] = await until("the alert", () => nonEmpty(stage.daemon.alerts("halted")));
      assert.match(
        message,
        /has settled batch 0x7+ in 0x[0-9a-f]{64}, which is not in the ledger|is 0x7+, which is not in the ledger|has used nonce \d+/,
      );
      const sends = stage.outcomes().length;
      await stage.recordTurns(6);
      assert.equal(stage.outcomes().length, sends, "nothing is sent while it is halted");
      const taken = await until("it to be final and taken in", async () => {
        const { code, stdout } = await settleCommand(["reconcile", "--adopt", "--resume"], await stage.environment());
        return code === 0 && /the halt is lifted/.test(stdout) ? stdout : null;
      });
      assert.match(taken, /is taken in: it paid 1 charges/);
      await stage.settled();
      // The thief took 0.001 of a payer's model cost, which pays for a part of it.
      const { body } = await stage.daemon.ask("GET", "/v1/status");
      const { totals } = body as unknown as { totals: Record<string, string> };
      assert.equal(totals.pendingUsd, "0.00");
      assert.equal(totals.voidedUsd, "0.00");
      const balances = { charges: 36, acknowledgedUsd: totals.accruedUsd ?? "", lost: "nothing" };
      return {
        happened:
          "alert `halted`; after `reconcile --adopt` what was stolen pays for a part of the payer's next charge",
        balances: balances as never,
      };
    },
  },
];

export const adversaryFaults: FaultGroup = { name: "Liars, thieves and restores", cases };
