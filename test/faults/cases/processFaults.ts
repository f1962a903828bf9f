import assert from "node:assert/strict";
import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { until } from "../../../scripts/waiting/until.ts";
import { sendAs } from "../../../scripts/world/hosts/sendAs.ts";
import { mined } from "../../../scripts/world/mined.ts";
import { formatUsd, type MicroUsdc, microUsdc, parseUsd } from "../../../settlement/domain/money.ts";
import { uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import type { Failpoint } from "../../../settlement/engine/context.ts";
import { openLedger } from "../../../settlement/ledger/openLedger.ts";
import { startTcpProxy } from "../proxies/tcpProxy.ts";
import { bodyOf, type Turn } from "../stage/platform.ts";
import { PAYERS, type Stage, TURN_CHARGES } from "../stage/stage.ts";
import { submitStalled } from "./chainFaults.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";

const FAILPOINTS: readonly Failpoint[] = [
  "before_plan",
  "after_plan",
  "before_sign",
  "after_sign",
  "after_save",
  "after_send",
  "before_inclusion",
  "after_inclusion",
  "before_finalize",
  "after_finalize",
];
const KILLED = { code: null, signal: "SIGKILL" };
const STOPPED = { code: 0, signal: null };
const DAY_MS = 86_400_000;
const SQLITE_FULL_SYNC = 2;
const CALLS_AT_ONCE = 1_000;
// Twice as many as two MiB of log take.
const TURNS_FOR_A_SMALL_DISK = 60;

const cases: FaultCase[] = [
  {
    number: 35,
    fault: "kill −9 before and after each of persist, sign, send, receipt, finalise",
    injected: `${FAILPOINTS.length} lives of one daemon; each kills itself at another failpoint of a settlement, with new turns in each`,
    claim: "a daemon that is killed anywhere goes on from its ledger, and everything settles once",
    async run(stage) {
      const waiting: Turn[] = [];
      for (const killAt of FAILPOINTS) {
        const daemon = await stage.spawn({ plan: { killAt } });
        // It may be dead before it listens; whatever it does not acknowledge is reported to its successor.
        await daemon.listening().catch(() => undefined);
        waiting.push(stage.turnOf(waiting.length % PAYERS), stage.turnOf((waiting.length + 1) % PAYERS));
        await offerAll(stage, waiting);
        assert.deepEqual(await daemon.ended(), KILLED, `it is killed at ${killAt}`);
      }
      await stage.start();
      await Promise.all(waiting.map(stage.platform.deliver));
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened: `killed ${FAILPOINTS.length} times in ${FAILPOINTS.length} places; the last life settles everything`,
        balances,
      };
    },
  },
  {
    number: 36,
    fault: "The disk is full",
    injected: "a limit on the size of files (`ulimit -f`), so that SQLite's real writes fail; then a start without it",
    claim: "what cannot be written is refused with 503, and nothing that was acknowledged is missing",
    async run(stage) {
      await stage.sequencer.stall();
      const daemon = await stage.start({ maxFileKiB: 2_048 });
      const turns = Array.from({ length: TURNS_FOR_A_SMALL_DISK }, (_, i) => stage.turnOf(i % PAYERS));
      const statuses: (number | null)[] = [];
      for (const turn of turns) {
        statuses.push(await stage.platform.offer(turn));
        if (statuses.filter((status) => status === 503).length === 5) break;
      }
      assert.deepEqual(new Set(statuses), new Set([200, 503]));
      const acknowledged = stage.platform.acknowledged.turns.size;
      await until(
        "the alert",
        () => daemon.alerts("ledger_unavailable").length + daemon.alerts("tick_failed").length > 0,
      );
      assert.deepEqual(await daemon.kill(), KILLED);
      await stage.start();
      await stage.balances({ pending: acknowledged * TURN_CHARGES });
      stage.sequencer.resume();
      await Promise.all(turns.map(stage.platform.deliver));
      await stage.settled();
      const balances = await stage.balances();
      return {
        happened: "503 and an alert from the first write that fails on; what was refused is taken later",
        balances,
      };
    },
  },
  {
    number: 37,
    fault: "Power loss",
    injected: "the database's log is cut off at the length it had when an acknowledgement arrived, after `SIGKILL`",
    claim: "what was acknowledged was in the file by then, under SQLite's full synchronisation",
    async run(stage) {
      await mined(stage.world.usdc.pause());
      const daemon = await stage.start();
      daemon.tell({ ask: "synchronous" });
      const { synchronous } = await daemon.hear((told) => "synchronous" in told);
      assert.deepEqual(new Set(synchronous), new Set([SQLITE_FULL_SYNC]));
      const turns = Array.from({ length: PAYERS }, (_, i) => stage.turnOf(i));
      const lengths: number[] = [];
      for (const turn of turns) {
        await stage.platform.deliver(turn);
        lengths.push(statSync(`${stage.ledger}-wal`).size);
      }
      daemon.freeze();
      await daemon.kill();
      for (const [i, length] of lengths.entries()) {
        const copy = cutOff(stage, length);
        const ledger = await openLedger(copy);
        for (const { turnId } of turns.slice(0, i + 1)) {
          assert.equal((await ledger.listChargesOf({ turnId })).length, TURN_CHARGES, `${turnId} survives`);
        }
        await ledger.close();
      }
      await mined(stage.world.usdc.unpause());
      await stage.start({ ledger: cutOff(stage, lengths.at(-1) ?? 0) });
      await stage.settled();
      const balances = await stage.balances();
      return {
        happened: `${PAYERS} cut-off copies each hold everything acknowledged by then; the last one settles it`,
        balances,
      };
    },
  },
  {
    number: 38,
    fault: "A corrupt database",
    injected:
      "bytes of the database are overwritten: in the file before a start, and in its log under a running daemon",
    claim: "a damaged ledger is not opened, and a daemon that meets damage stops; a copy brings it back",
    async run(stage) {
      await mined(stage.world.usdc.pause());
      const first = await stage.start();
      await stage.recordTurns();
      assert.deepEqual(await first.stop(), STOPPED);
      const copy = join(stage.folder, "copy.db");
      copyFileSync(stage.ledger, copy);
      const bytes = readFileSync(stage.ledger);
      bytes.fill(0xa5, 4 * 8192, 8 * 8192);
      writeFileSync(stage.ledger, bytes);
      const second = await stage.spawn();
      assert.deepEqual(await second.ended(), { code: 1, signal: null });
      assert.match(second.complaint(), /^The ledger .+ is damaged: .+; restore it from a copy\.\n$/);

      const running = join(stage.folder, "running.db");
      copyFileSync(copy, running);
      const third = await stage.start({ ledger: running });
      const tool = `/v1/tools/${uuidFromToolId(stage.tool(0).toolId)}`;
      assert.equal((await third.ask("POST", tool, { name: "in the log" })).status, 200);
      scribble(`${running}-wal`);
      // Whoever asks for what was in the damaged part makes the daemon meet it.
      await until("it to meet the damage", async () => {
        await third.ask("GET", tool).catch(() => undefined);
        return third.alerts("ledger_corrupt").length > 0;
      });
      assert.deepEqual(await third.ended(), { code: 1, signal: null });

      await mined(stage.world.usdc.unpause());
      await stage.start({ ledger: copy });
      await stage.settled();
      const balances = await stage.balances();
      return {
        happened: "exit code 1 and a sentence at the start; alert `ledger_corrupt` and exit code 1 while running",
        balances,
      };
    },
  },
  {
    number: 39,
    fault: "PostgreSQL goes away in the middle of a commit",
    injected:
      "a TCP proxy cuts the connection after the server's COMMIT and before its answer; then the server is stopped",
    claim: "a commit whose answer is lost is repeated without effect, and an outage is a 503 until it is over",
    async run(stage) {
      const { server, database } = await stage.postgres();
      const { hostname, port } = new URL(server.url);
      const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
      try {
        const ledger = `${server.url.replace(/\d+$/, `${proxy.port}`)}/${database}`;
        const daemon = await stage.start({ ledger });
        const turn = stage.turnOf(0);
        const lost = proxy.loseCommitOf(turn.turnId);
        assert.equal(await stage.platform.offer(turn), 200);
        await lost;
        await stage.recordTurns(6);
        await server.interrupt();
        const later = Array.from({ length: 5 }, (_, i) => stage.turnOf(i + 7));
        assert.deepEqual(await Promise.all(later.map(stage.platform.offer)), Array(later.length).fill(503));
        const failed = () => daemon.alerts("tick_failed").length + daemon.alerts("ledger_unavailable").length;
        await until("the alert", () => failed() > 0);
        await server.resume();
        await Promise.all(later.map(stage.platform.deliver));
        await stage.settled();
        const balances = await stage.balances();
        return {
          happened: "the turn whose commit was cut is there once; 503 and an alert while the server is down",
          balances,
        };
      } finally {
        await stage.daemon.kill();
        await proxy.stop();
      }
    },
  },
  {
    number: 40,
    fault: "Two daemons with one operator key, one of them frozen and woken later",
    injected:
      "one daemon stops itself (SIGSTOP) before it signs; a second takes its lease over; then the first is woken",
    claim: "there is one writer for a key: the old one finds itself fenced off and does not send what it had planned",
    async run(stage) {
      const { server, database } = await stage.postgres();
      const ledger = `${server.url}/${database}`;
      const policy = { leaseMs: 1_500 };
      const sleeper = await stage.start({
        ledger,
        environment: { SETTLEMENT_HOLDER: "sleeper" },
        plan: { policy, freezeAt: "before_sign" },
      });
      await stage.recordTurns();
      await sleeper.hear((told) => "frozen" in told);
      const second = await stage.addEndpoint();
      const environment = { SETTLEMENT_HOLDER: "heir" };
      const heir = await stage.start({ ledger, endpoints: [second], environment, plan: { policy } });
      await stage.settled();
      sleeper.wake();
      await until("it to be fenced off", () =>
        sleeper.alerts("holding").some((message) => message.includes("sleeper no longer holds the lease")),
      );
      await stage.recordTurns();
      await stage.settled();
      // Whoever has the lease may send what came later.
      const [frozen] = sleeper.events("planned");
      assert.ok(frozen);
      assert.ok(!sleeper.events("sent").some(({ submission }) => submission === frozen.batchId));
      assert.ok(heir.events("sent").some(({ submission }) => submission === frozen.batchId));
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened:
          "the second signs on the saved nonce and settles; the first wakes up, is refused and does not send it",
        balances,
      };
    },
  },
  {
    number: 41,
    fault: "The clock jumps",
    injected: "the daemon's clock jumps a day ahead and a day back, each with a batch on its way",
    claim: "no jump of the clock settles anything twice or forgets it",
    async run(stage) {
      await submitStalled(stage);
      for (const clockOffsetMs of [DAY_MS, -DAY_MS, 0]) {
        stage.daemon.tell({ clockOffsetMs });
        stage.sequencer.resume();
        await stage.settled();
        await stage.sequencer.stall();
        const signed = stage.signed().length;
        await stage.recordTurns();
        await until("the next batch on its way", () => stage.signed().length > signed);
      }
      stage.sequencer.resume();
      await stage.settled();
      const balances = await stage.balances();
      assert.deepEqual([balances.attempts, balances.transactions], [0, 4]);
      return { happened: "three jumps, four batches, each mined once and final", balances };
    },
  },
  {
    number: 42,
    fault: "The same accrual is delivered twice",
    injected: "each turn is reported three times at once and again after kill −9; once with another body under its id",
    claim: "the same report again changes nothing and is answered the same; another body is a 409",
    async run(stage) {
      const daemon = await stage.start();
      const turns = Array.from({ length: 4 }, (_, i) => stage.turnOf(i));
      const report = async (turn: Turn) => (await stage.daemon.ask("POST", "/v1/turns", bodyOf(turn))).text;
      const answers = await Promise.all(turns.flatMap((turn) => [report(turn), report(turn), report(turn)]));
      assert.equal(new Set(answers).size, turns.length);
      await daemon.kill();
      await stage.start();
      assert.deepEqual(new Set(await Promise.all(turns.map(report))), new Set(answers));
      await Promise.all(turns.map(stage.platform.deliver));
      const other = { ...bodyOf(stage.turnOf(0)), turnId: turns[0]?.turnId, modelCostUsd: "1.00" };
      assert.equal((await stage.daemon.ask("POST", "/v1/turns", other)).status, 409);
      await stage.settled();
      const balances = await stage.balances();
      return {
        happened: "five reports of each turn, one answer and one charge per line; 409 for the other body",
        balances,
      };
    },
  },
  {
    number: 43,
    fault: "The signer times out",
    injected: "the signer never answers to the first two questions; its time limit is half a second",
    claim: "the nonce is saved before anything is signed, and the same nonce is signed later",
    async run(stage) {
      await stage.start({ plan: { signaturesThatHang: 2, policy: { signTimeoutMs: 500 } } });
      await stage.recordTurns();
      await until("the alert", () => stage.daemon.alerts("signer_unavailable").length > 0);
      const [planned] = await stage.batches();
      const { nonce, txHashes } = await stage.batch(planned?.batchId ?? "");
      assert.ok(nonce !== null && txHashes.length === 0);
      await stage.settled();
      assert.deepEqual(
        stage.signed().map((transaction) => transaction.nonce),
        [nonce],
      );
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened: "alert `signer_unavailable` with the nonce saved and no bytes; signed on that nonce afterwards",
        balances,
      };
    },
  },
  {
    number: 44,
    fault: "One row always reverts",
    injected: "the router holds so much USDC that the token refuses one payer's large amount, without a reason",
    claim: "a row that breaks its batch is named by the contract and set aside, and the rest settles",
    async run(stage) {
      const { usdc, router } = stage.world;
      await stage.start({ plan: { policy: { brokenRowWaitMs: 1_500 } } });
      // The token lets no balance grow past this; twelve turns fit, and nothing large.
      const room = parseUsd("2");
      const excess = 2n ** 255n - 1n - room - (await usdc.balanceOf(router));
      await mined(usdc.mint(router, excess));
      const large = { ...stage.turnOf(5), modelCost: parseUsd("3") };
      await stage.recordTurns();
      await stage.platform.deliver(large);
      await until("the alert", () => {
        const [message = ""] = stage.daemon.alerts("row_set_aside");
        return message.toLowerCase().includes(stage.payer(5));
      });
      await until("the others", async () => (await stage.finalTurns()) >= PAYERS - 1);
      await takeFromRouter(stage, excess);
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened: "alert `row_set_aside` names the payer; the others settle, and it too when the token takes it",
        balances,
      };
    },
  },
  {
    number: 45,
    fault: "A thousand calls at once against one session's last cent",
    injected: `${CALLS_AT_ONCE} parallel holds of 0.001 USDC on a session with 0.01 USDC left`,
    claim: "calls in parallel never overrun the budget",
    async run(stage) {
      await stage.start();
      const payer = stage.payer(0);
      const opened = await stage.daemon.ask("POST", "/v1/sessions", {
        payer,
        maxSpendUsd: "0.05",
        sessionId: "last-cent",
      });
      assert.equal(opened.status, 200);
      assert.equal(await hold(stage, "first", parseUsd("0.04")), 200);
      assert.equal(await stage.platform.capture("first", { payer, amount: parseUsd("0.04") }), 200);
      const price = microUsdc(1_000n);
      const ids = Array.from({ length: CALLS_AT_ONCE }, (_, i) => `call-${i}`);
      const statuses = await Promise.all(ids.map((callId) => hold(stage, callId, price)));
      const held = ids.filter((_, i) => statuses[i] === 200);
      assert.equal(held.length, 10);
      assert.equal(statuses.filter((status) => status === 402).length, CALLS_AT_ONCE - 10);
      for (const callId of held) assert.equal(await stage.platform.capture(callId, { payer, amount: price }), 200);
      await stage.daemon.ask("POST", "/v1/sessions/last-cent/close");
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.acknowledgedUsd, "0.05");
      return {
        happened: `10 held, ${CALLS_AT_ONCE - 10} answered with 402; 0.05 USDC settled, the budget to the unit`,
        balances,
      };
    },
  },
  {
    number: 46,
    fault: "Shutdown in the middle of everything",
    injected: "SIGTERM to the plain command while turns stream in and batches are on their way, twice",
    claim: "a daemon that is stopped drains: exit code 0, and what it acknowledged is there for the next one",
    async run(stage) {
      const turns = Array.from({ length: 4 * PAYERS }, (_, i) => stage.turnOf(i % PAYERS));
      await stage.start({ asCommand: true });
      const delivered = Promise.all(
        turns.map(async (turn, i) => {
          await until("its turn", () => stage.platform.acknowledged.turns.size >= i - 2);
          await stage.platform.deliver(turn);
        }),
      );
      for (const part of [1, 2]) {
        await until("traffic", () => stage.platform.acknowledged.turns.size >= part * PAYERS);
        const daemon = stage.daemon;
        assert.deepEqual(await daemon.stop(), STOPPED);
        assert.deepEqual([daemon.events("draining").length, daemon.events("stopped").length], [1, 1]);
        await stage.start({ asCommand: true });
      }
      await delivered;
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened: "exit code 0 twice, `draining` and `stopped` in the log; every turn is there and settled",
        balances,
      };
    },
  },
];

export const processFaults: FaultGroup = { name: "Process and storage", cases };

const offerAll = (stage: Stage, turns: readonly Turn[]) =>
  Promise.all(
    turns
      .filter(({ turnId }) => !stage.platform.acknowledged.turns.has(turnId))
      .map((turn) => stage.platform.offer(turn)),
  );

// The ledger as a power loss would leave it: its file, and its log up to a length.
function cutOff(stage: Stage, length: number): string {
  const copy = join(stage.folder, `cut-off-${length}.db`);
  copyFileSync(stage.ledger, copy);
  copyFileSync(`${stage.ledger}-wal`, `${copy}-wal`);
  truncateSync(`${copy}-wal`, length);
  return copy;
}

// Overwrites the pages in a log and leaves its header alone.
function scribble(path: string): void {
  const HEADER_BYTES = 32;
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(statSync(path).size - HEADER_BYTES, 0xa5), 0, undefined, HEADER_BYTES);
  closeSync(file);
}

async function hold(stage: Stage, callId: string, amount: MicroUsdc): Promise<number> {
  const priceUsd = formatUsd(amount);
  const call = {
    callId,
    sessionId: "last-cent",
    toolId: uuidFromToolId(stage.tool(0).toolId),
    method: "quote",
    priceUsd,
  };
  return (await stage.daemon.ask("POST", "/v1/calls", call)).status;
}

// The router cannot send it by itself.
async function takeFromRouter({ world }: Stage, amount: bigint): Promise<void> {
  const transfer = await world.usdc.transfer.populateTransaction(world.circle.address, amount);
  await sendAs(world, await world.router.getAddress(), transfer);
}
