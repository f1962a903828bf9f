import assert from "node:assert/strict";
import { ADMIN_DELAY_SECONDS } from "../../../scripts/protocol/description.ts";
import { until } from "../../../scripts/waiting/until.ts";
import { mined } from "../../../scripts/world/mined.ts";
import { formatUsd, parseUsd } from "../../../settlement/domain/money.ts";
import { uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import { administer } from "../../../settlement/ledger/testing/startPostgres.ts";
import type { DaemonProcess } from "../daemon/startDaemonProcess.ts";
import { PAYERS, type Stage } from "../stage/stage.ts";
import { letTimePass } from "./adversaryFaults.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";

const DAY_SECONDS = 86_400;
const SESSIONS = 60;
const PRICE = parseUsd("0.10");
const ROUNDS = 10;
const SESSIONS_OF_TWO = 12;

// As the admin changes it: announced, and done when its delay is over.
async function limitOperator({ world, operator }: Stage, limit: bigint): Promise<void> {
  const manager = world.manager.connect(world.parties.admin);
  const call = world.router.interface.encodeFunctionData("setOperatorLimit", [operator.address, limit]);
  await mined(manager.schedule(world.router, call, 0));
  await world.rpc("evm_increaseTime", [ADMIN_DELAY_SECONDS]);
  await mined(manager.execute(world.router, call));
}

const openSession = async (daemon: DaemonProcess, sessionId: string, payer: string, maxSpend: bigint) => {
  const maxSpendUsd = formatUsd(maxSpend as typeof PRICE);
  assert.equal((await daemon.ask("POST", "/v1/sessions", { payer, maxSpendUsd, sessionId })).status, 200);
};

const hold = async (stage: Stage, daemon: DaemonProcess, callId: string, sessionId: string, amount = PRICE) => {
  const toolId = uuidFromToolId(stage.tool(0).toolId);
  const call = { callId, sessionId, toolId, method: "quote", priceUsd: formatUsd(amount) };
  return (await daemon.ask("POST", "/v1/calls", call)).status;
};

const cases: FaultCase[] = [
  {
    number: 69,
    fault: "A batch is above what is left of the operator's limit",
    injected: "the admin lowers the operator's limit to 1 USDC in 24 hours, and twelve payers owe 1.83 USDC",
    claim: "what is left of the limit bounds the batch, and the rest is settled when there is room again",
    async run(stage) {
      await limitOperator(stage, 1_000_000n);
      await stage.start();
      await stage.recordTurns();
      await until("the alert", () =>
        stage.daemon.alerts("holding").some((message) => /the limit of \S+ leaves \S+ of 1.00 USDC/.test(message)),
      );
      await until("as much as fits to be final", async () => {
        const batches = await stage.batches();
        return batches.length > 0 && batches.every(({ state }) => state === "final");
      });
      assert.ok((await stage.finalTurns()) < PAYERS);
      await letTimePass(stage, 2 * DAY_SECONDS);
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened:
          "alert `holding` names what is left of the limit; the rest settles when a day has passed, no attempt used up",
        balances,
      };
    },
  },
  {
    number: 70,
    fault: "Two daemons lock the same sessions in different order",
    injected: `two daemons on one PostgreSQL; calls in ${SESSIONS_OF_TWO} sessions arrive at one of them in one order and at the other in the other, ${ROUNDS} times`,
    claim: "everybody locks in one order, so that nobody waits in a circle",
    async run(stage) {
      const { one, two, server, database } = await startTwo(stage);
      const sessions = Array.from({ length: SESSIONS_OF_TWO }, (_, i) => `shared-${i}`);
      const payer = (i: number) => stage.payer(i % PAYERS);
      for (const [i, id] of sessions.entries()) await openSession(one, id, payer(i), parseUsd("2"));
      const amount = parseUsd("0.01");
      for (let round = 0; round < ROUNDS; round++) {
        const at = (daemon: DaemonProcess, name: string, order: readonly string[]) =>
          order.map(async (id) => {
            const callId = `${name}-${round}-${id}`;
            assert.equal(await hold(stage, daemon, callId, id, amount), 200);
            return { callId, payer: payer(sessions.indexOf(id)) };
          });
        const held = await Promise.all([...at(one, "one", sessions), ...at(two, "two", sessions.toReversed())]);
        await Promise.all(
          held.map(async ({ callId, payer }) =>
            assert.equal(await stage.platform.capture(callId, { payer, amount }), 200),
          ),
        );
      }
      for (const id of sessions) await two.ask("POST", `/v1/sessions/${id}/close`);
      await stage.settled();
      const circles = `SELECT deadlocks FROM pg_stat_database WHERE datname = '${database}'`;
      await administer(
        server.url,
        `DO $$ BEGIN IF (${circles}) > 0 THEN RAISE EXCEPTION 'somebody waited in a circle'; END IF; END $$`,
      );
      const balances = await stage.balances();
      return { happened: "every call is held and captured at once, and PostgreSQL has counted no deadlock", balances };
    },
  },
  {
    number: 71,
    fault: "Parallel sessions of one payer at the edge of its allowance",
    injected: `a payer with an allowance of 1 USDC opens ${SESSIONS} sessions, and each asks for a call of 0.10 USDC at the same time`,
    claim: "what one session was given no other is given, and nothing is left to the insurance account",
    async run(stage) {
      const payer = stage.payer(0);
      const owner = stage.world.payers[0];
      assert.ok(owner !== undefined);
      await mined(stage.world.usdc.connect(owner).approve(stage.world.router, parseUsd("1")));
      const daemon = await stage.start();
      const ids = Array.from({ length: SESSIONS }, (_, i) => `edge-${i}`);
      await Promise.all(ids.map((id) => openSession(daemon, id, payer, PRICE)));
      const statuses = await Promise.all(ids.map((id) => hold(stage, daemon, `call-${id}`, id)));
      const held = ids.filter((_, i) => statuses[i] === 200);
      assert.equal(held.length, 10);
      assert.deepEqual([...new Set(statuses)].sort(), [200, 402]);
      for (const id of held) {
        assert.equal(await stage.platform.capture(`call-${id}`, { payer, amount: PRICE }), 200);
      }
      await Promise.all(ids.map((id) => daemon.ask("POST", `/v1/sessions/${id}/close`)));
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.acknowledgedUsd, "1.00");
      return {
        happened: `10 held, ${SESSIONS - 10} answered with 402; 1.00 USDC settled, the allowance to the unit`,
        balances,
      };
    },
  },
  {
    number: 72,
    fault: "Daemons' clocks differ by minutes",
    injected:
      "two daemons with one key on one PostgreSQL, the second with its clock ten minutes ahead; then the first stops",
    claim:
      "a lease ends by the database's clock, so that nobody takes it early, and whoever comes next goes on at once",
    async run(stage) {
      const { one, two } = await startTwo(stage, "operator");
      await stage.recordTurns(6, () => two.tell({ clockOffsetMs: 600_000 }));
      await stage.settled();
      await stage.recordTurns(6);
      await stage.settled();
      assert.equal(two.events("planned").length, 0);
      await one.stop();
      await stage.recordTurns(6);
      await stage.settled();
      assert.ok(two.events("planned").length > 0);
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened: "the second plans nothing while the first has the lease, and everything once it was given back",
        balances,
      };
    },
  },
];

// On one database, each with a name of its own. The second is who answers.
async function startTwo(stage: Stage, keystore: "operator" | "peer" = "peer") {
  const { server, database } = await stage.postgres();
  const ledger = `${server.url}/${database}`;
  const one = await stage.start({ ledger, environment: { SETTLEMENT_HOLDER: "one" } });
  const second = await stage.addEndpoint();
  const two = await stage.start({
    ledger,
    keystore,
    endpoints: [second],
    environment: { SETTLEMENT_HOLDER: "two" },
  });
  return { one, two, server, database };
}

export const sharedFaults: FaultGroup = { name: "Limits, locks and clocks", cases };
