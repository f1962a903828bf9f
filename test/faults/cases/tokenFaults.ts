import assert from "node:assert/strict";
import { Contract } from "ethers";
import { until } from "../../../scripts/waiting/until.ts";
import { sendAs } from "../../../scripts/world/hosts/sendAs.ts";
import { mined } from "../../../scripts/world/mined.ts";
import { usdcAdminOf } from "../../../scripts/world/placeUsdc.ts";
import { deployUsdcImplementation } from "../../../scripts/world/usdc.ts";
import { settleCommand } from "../../local/daemon/testDaemon.ts";
import { hexOf } from "../stage/sequencer.ts";
import { PAYERS, type Stage, TURN_CHARGES } from "../stage/stage.ts";
import { FIRST, mempoolHas, submitStalled } from "./chainFaults.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";

const AFFECTED = 3;
// Nothing is tried again before the test moves the daemon's clock.
const HOUR_MS = 3_600_000;

const alertWith = (stage: Stage, kind: string, part: string) =>
  until(`an alert \`${kind}\` about ${part}`, () => stage.daemon.alerts(kind).some((text) => text.includes(part)));

const notReady = (stage: Stage, component: string, part: string) =>
  until(`/ready to say ${part}`, async () => (await stage.ready()).components[component]?.reason.includes(part));

// The reasons for which a turn's first charge could not be taken, oldest first.
async function failuresOf(stage: Stage, turnId: string): Promise<string[]> {
  const { charges } = (await stage.daemon.ask("GET", `/v1/turns/${turnId}`)).body as unknown as {
    charges: { chargeId: string }[];
  };
  const { failures } = (await stage.daemon.ask("GET", `/v1/charges/${charges[0]?.chargeId}`)).body as unknown as {
    failures: { reason: string }[];
  };
  return failures.map(({ reason }) => reason);
}

const turnOfPayer = (stage: Stage, payer: number) =>
  [...stage.platform.acknowledged.turns.values()].find((turn) => turn.payer === stage.payer(payer))?.turnId ?? "";

// The affected payer's wallet on the token.
function usdcOfPayer(stage: Stage) {
  const account = stage.world.payers[AFFECTED];
  if (account === undefined) throw new RangeError("no such payer");
  return stage.world.usdc.connect(account);
}

// While nothing can be settled, by whosever decision: turns are taken, nothing is sent, an alert says why.
async function holds(stage: Stage, part: string): Promise<void> {
  const sends = stage.outcomes().length;
  await stage.recordTurns();
  await alertWith(stage, "holding", part);
  assert.equal(stage.outcomes().length, sends, "nothing is sent");
}

const cases: FaultCase[] = [
  {
    number: 26,
    fault: "An allowance is revoked between pre-flight and settlement",
    injected: "a payer whom pre-flight has let through revokes in the block of the batch, before it",
    claim: "only that payer's row fails, and it is settled when the payer allows it again",
    async run(stage) {
      await stage.sequencer.stall();
      await stage.start({ plan: { policy: { firstRetryMs: HOUR_MS, maxRetryMs: HOUR_MS } } });
      const amountUsd = "0.20";
      const { body } = await stage.daemon.ask("POST", "/v1/preflight", { payer: stage.payer(AFFECTED), amountUsd });
      assert.equal((body as unknown as { code: string }).code, "ok");
      await stage.recordTurns();
      await stage.submitted();
      await usdcOfPayer(stage).approve(stage.world.router, 0n, FIRST);
      await mempoolHas(stage, 2);
      stage.sequencer.resume();
      await until("the row to fail", async () => (await failuresOf(stage, turnOfPayer(stage, AFFECTED))).length === 1);
      await stage.balances({ pending: TURN_CHARGES });
      await mined(usdcOfPayer(stage).approve(stage.world.router, 10n ** 12n));
      stage.daemon.tell({ clockOffsetMs: 2 * HOUR_MS });
      await stage.settled();
      assert.deepEqual(await failuresOf(stage, turnOfPayer(stage, AFFECTED)), ["allowance"]);
      const balances = await stage.balances();
      assert.equal(balances.attempts, 1);
      return {
        happened: `${PAYERS - 1} payers settle, one row fails for its allowance and is settled afterwards`,
        balances,
      };
    },
  },
  {
    number: 27,
    fault: "A balance is drained",
    injected: "a payer moves all USDC away in the block of the batch, before it, and never comes back",
    claim: "only that payer's row fails; after five attempts the platform absorbs it and the payer is refused",
    async run(stage) {
      await submitStalled(stage);
      const usdc = usdcOfPayer(stage);
      await usdc.transfer(stage.world.circle, await usdc.balanceOf(stage.payer(AFFECTED)), {
        ...FIRST,
        // An estimate would count what the batch in the mempool is about to take.
        gasLimit: 100_000n,
      });
      await mempoolHas(stage, 2);
      stage.sequencer.resume();
      await stage.settled();
      const failures = await failuresOf(stage, turnOfPayer(stage, AFFECTED));
      assert.deepEqual(new Set(failures), new Set(["balance"]));
      assert.equal(failures.length, 5);
      const preflight = { payer: stage.payer(AFFECTED), amountUsd: "0.01" };
      const { body } = await stage.daemon.ask("POST", "/v1/preflight", preflight);
      assert.equal((body as unknown as { code: string }).code, "payment_failed");
      const balances = await stage.balances({ absorbed: TURN_CHARGES });
      return {
        happened: `${PAYERS - 1} settle, one fails five times and is absorbed; its payer is refused from then on`,
        balances,
      };
    },
  },
  {
    number: 28,
    fault: "USDC is paused",
    injected: "`pause` by the token's owner before the turns come in",
    claim: "while USDC is paused everything is held and no attempt is used up",
    async run(stage) {
      await stage.start();
      await mined(stage.world.usdc.pause());
      await holds(stage, "USDC is paused");
      await notReady(stage, "settlement", "holding: USDC is paused");
      await stage.balances({ pending: PAYERS * TURN_CHARGES });
      await mined(stage.world.usdc.unpause());
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return { happened: "alert `holding`, not ready, nothing sent; settled when the pause ends", balances };
    },
  },
  {
    number: 29,
    fault: "A payer, a developer or the router is blacklisted",
    injected: "Circle blacklists a developer and, in the block of the batch, a payer; then the router itself",
    claim:
      "a blacklisted payer's row fails alone, a blacklisted developer is credited, a blacklisted router stops everything",
    async run(stage) {
      const { usdc } = stage.world;
      await mined(usdc.blacklist(stage.tool(0).developer.address));
      await stage.sequencer.stall();
      await stage.start({ plan: { policy: { firstRetryMs: HOUR_MS, maxRetryMs: HOUR_MS } } });
      await stage.recordTurns();
      await stage.submitted();
      await usdc.blacklist(stage.payer(AFFECTED), FIRST);
      await mempoolHas(stage, 2);
      stage.sequencer.resume();
      await until("the row to fail", async () => (await failuresOf(stage, turnOfPayer(stage, AFFECTED))).length === 1);
      await stage.balances({ pending: TURN_CHARGES });
      await mined(usdc.unBlacklist(stage.payer(AFFECTED)));
      stage.daemon.tell({ clockOffsetMs: 2 * HOUR_MS });
      await stage.settled();
      assert.deepEqual(await failuresOf(stage, turnOfPayer(stage, AFFECTED)), ["blacklisted"]);
      await mined(usdc.blacklist(stage.world.router));
      await holds(stage, "USDC has blacklisted the router");
      await mined(usdc.unBlacklist(stage.world.router));
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.attempts, 1);
      return {
        happened:
          "the payer's row fails and settles later, the developer keeps its credit, the router's bar is an alert",
        balances,
      };
    },
  },
  {
    number: 30,
    fault: "The implementation of USDC is upgraded",
    injected: "the proxy's admin points it to another implementation while the daemon is down, and once while it runs",
    claim: "an upgrade of USDC is noticed, also across a restart, and reported once",
    async run(stage) {
      const plan = { policy: { tokenCheckMs: 100 } };
      const first = await stage.start({ plan });
      await stage.recordTurns();
      await stage.settled();
      assert.deepEqual(await first.stop(), { code: 0, signal: null });
      const second = await upgradeUsdc(stage);
      await stage.start({ plan });
      await alertWith(stage, "usdc_upgraded", `is now ${second}`);
      const third = await upgradeUsdc(stage);
      await alertWith(stage, "usdc_upgraded", `was ${second} and is now ${third}`);
      await stage.recordTurns();
      await stage.settled();
      assert.equal(stage.daemon.alerts("usdc_upgraded").length, 2);
      const { stdout } = await settleCommand(["doctor", "--json"], await stage.environment());
      const { checks } = JSON.parse(stdout) as { checks: { name: string; found: string }[] };
      const found = checks.find(({ name }) => name === "USDC")?.found ?? "";
      assert.ok(found.startsWith(`implementation ${third} since `) && found.endsWith(`before it ${second}`));
      const balances = await stage.balances();
      return { happened: "alert `usdc_upgraded` for each upgrade, `doctor` shows both; settlement goes on", balances };
    },
  },
  {
    number: 31,
    fault: "The router is paused, or the operator's role is revoked",
    injected: "the guardian pauses the router, lifts that, and then suspends the operator",
    claim: "either holds everything with an alert; another operator can take over what is held",
    async run(stage) {
      const router = stage.world.router.connect(stage.world.parties.guardian);
      await stage.start();
      await mined(router.pause());
      await holds(stage, "the router is paused");
      await mined(router.unpause());
      await stage.settled();
      await mined(router.suspendOperator(stage.operator.address));
      await holds(stage, "is not an operator");
      await stage.balances({ pending: PAYERS * TURN_CHARGES });
      await stage.daemon.stop();
      await stage.start({ keystore: "peer" });
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened: "two alerts `holding`, nothing sent; a restart with another operator's key settles it",
        balances,
      };
    },
  },
  {
    number: 32,
    fault: "The operator is out of gas money",
    injected: "`anvil_setBalance` of zero for the operator before the first batch",
    claim: "without gas money the nonce is kept and an alert raised, and it goes on by itself when funded",
    async run(stage) {
      const { address } = stage.operator;
      const balance = await stage.world.provider.getBalance(address);
      await stage.world.rpc("anvil_setBalance", [address, "0x0"]);
      await stage.start();
      await stage.recordTurns();
      await alertWith(stage, "holding", "is out of ETH for gas");
      await notReady(stage, "operators", "too little ether for gas");
      const { nonce } = await stage.submitted();
      await until("several tries", () => stage.outcomes().length > 8);
      assert.deepEqual(new Set(stage.outcomes()), new Set(["insufficient_funds"]));
      assert.equal(stage.signed().length, 1, "whoever cannot pay the first offer does not outbid it");
      await stage.world.rpc("anvil_setBalance", [address, hexOf(balance)]);
      await stage.settled();
      const [signed, ...more] = stage.signed();
      assert.deepEqual([signed?.nonce, more.length], [nonce, 0]);
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened: "alert `holding`, not ready, one transaction signed; the same bytes are mined when funded",
        balances,
      };
    },
  },
  {
    number: 33,
    fault: "The operator's key is used elsewhere",
    injected: "the batch is dropped from the mempool, and the same key spends its nonce on something else",
    claim: "a nonce that somebody else has spent raises an alarm, and the batch settles once on another one",
    async run(stage) {
      const { nonce } = await submitStalled(stage);
      const [own] = stage.signed();
      await stage.world.rpc("anvil_dropTransaction", [own?.hash]);
      const wallet = stage.operator;
      await wallet.sendTransaction({ to: wallet.address, nonce: nonce ?? 0, ...FIRST });
      await stage.sequencer.mine(4);
      await alertWith(stage, "key_used_elsewhere", `at nonce ${nonce}`);
      stage.sequencer.resume();
      await stage.settled();
      const settled = (await stage.batches()).find(({ state }) => state === "final");
      assert.ok(((await stage.batch(settled?.batchId ?? "")).nonce ?? 0) > (nonce ?? 0));
      const balances = await stage.balances();
      assert.deepEqual([balances.attempts, balances.transactions], [0, 1]);
      return { happened: "alert `key_used_elsewhere` with the nonce; abandoned and settled on the next one", balances };
    },
  },
  {
    number: 34,
    fault: "A tool falls below its stake between call and settlement",
    injected: "a developer requests its stake back in the block of the batch, before it",
    claim: "the tool's lines are refused and nobody is charged for them, and the rest settles",
    async run(stage) {
      await submitStalled(stage);
      const { toolId, developer, stake } = stage.tool(1);
      await stage.world.staking.connect(developer).requestWithdrawal(toolId, stake, FIRST);
      await mempoolHas(stage, 2);
      stage.sequencer.resume();
      await stage.settled();
      const balances = await stage.balances({ refused: PAYERS });
      assert.equal(balances.attempts, 0);
      return {
        happened: `${PAYERS} lines refused with nobody charged, the other ${PAYERS * (TURN_CHARGES - 1)} settled`,
        balances,
      };
    },
  },
];

export const tokenFaults: FaultGroup = { name: "Token and contracts", cases };

// As Circle would: the proxy's admin points it to new code.
async function upgradeUsdc({ world }: Stage): Promise<string> {
  const implementation = await deployUsdcImplementation(world.circle);
  const usdc = await world.usdc.getAddress();
  const upgrade = new Contract(usdc, ["function upgradeTo(address)"]).getFunction("upgradeTo");
  await sendAs(world, await usdcAdminOf(world.provider, usdc), await upgrade.populateTransaction(implementation));
  return implementation.toLowerCase();
}
