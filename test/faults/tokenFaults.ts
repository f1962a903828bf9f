import assert from "node:assert/strict";
import { Contract } from "ethers";
import { deployUsdcImplementation } from "../../scripts/deploy/usdc.ts";
import { settleCommand } from "../local/testDaemon.ts";
import { FIRST, poolHas, submitStalled } from "./chainFaults.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";
import { hexOf } from "./sequencer.ts";
import { until } from "./until.ts";
import { PAYERS, TURN_CHARGES, type World } from "./world.ts";

const AFFECTED = 3;

const alertWith = (world: World, kind: string, part: string) =>
  until(`an alert \`${kind}\` about ${part}`, () => world.daemon.alerts(kind).some((text) => text.includes(part)));

const notReady = (world: World, component: string, part: string) =>
  until(`/ready to say ${part}`, async () => (await world.ready()).components[component]?.reason.includes(part));

// The reasons for which a turn's first charge could not be taken, oldest first.
async function failuresOf(world: World, turnId: string): Promise<string[]> {
  const { charges } = (await world.daemon.ask("GET", `/v1/turns/${turnId}`)).body as unknown as {
    charges: { chargeId: string }[];
  };
  const { failures } = (await world.daemon.ask("GET", `/v1/charges/${charges[0]?.chargeId}`)).body as unknown as {
    failures: { reason: string }[];
  };
  return failures.map(({ reason }) => reason);
}

const turnOfPayer = (world: World, payer: number) =>
  [...world.client.acknowledged.turns.values()].find((turn) => turn.payer === world.payer(payer))?.turnId ?? "";

// The affected payer's wallet on the token.
function usdcOfPayer(world: World) {
  const account = world.chain.payers[AFFECTED];
  if (account === undefined) throw new RangeError("no such payer");
  return world.chain.usdc.connect(world.walletOf(account));
}

// While nothing can be settled, by whosever decision: turns are taken, nothing is sent, an alert says why.
async function holds(world: World, part: string): Promise<void> {
  const sends = world.outcomes().length;
  await world.recordTurns();
  await alertWith(world, "holding", part);
  assert.equal(world.outcomes().length, sends, "nothing is sent");
}

const cases: FaultCase[] = [
  {
    number: 26,
    fault: "An allowance is revoked between pre-flight and settlement",
    injected: "a payer whom pre-flight has let through revokes in the block of the batch, before it",
    claim: "only that payer's row fails, and it is settled when the payer allows it again",
    async run(world) {
      await world.sequencer.stall();
      await world.start({ plan: { policy: { firstRetryMs: 1_500, maxRetryMs: 1_500 } } });
      const amountUsd = "0.20";
      const { body } = await world.daemon.ask("POST", "/v1/preflight", { payer: world.payer(AFFECTED), amountUsd });
      assert.equal((body as unknown as { code: string }).code, "ok");
      await world.recordTurns();
      await world.submitted();
      await usdcOfPayer(world).approve(world.chain.router, 0n, FIRST);
      await poolHas(world, 2);
      world.sequencer.resume();
      await until("the row to fail", async () => (await failuresOf(world, turnOfPayer(world, AFFECTED))).length === 1);
      await world.books({ pending: TURN_CHARGES });
      await usdcOfPayer(world).approve(world.chain.router, 10n ** 12n);
      await world.settled();
      assert.deepEqual(await failuresOf(world, turnOfPayer(world, AFFECTED)), ["allowance"]);
      const books = await world.books();
      assert.equal(books.attempts, 1);
      return {
        happened: `${PAYERS - 1} payers settle, one row fails for its allowance and is settled afterwards`,
        books,
      };
    },
  },
  {
    number: 27,
    fault: "A balance is drained",
    injected: "a payer moves all USDC away in the block of the batch, before it, and never comes back",
    claim: "only that payer's row fails; after five attempts the platform absorbs it and the payer is refused",
    async run(world) {
      await submitStalled(world);
      const usdc = usdcOfPayer(world);
      await usdc.transfer(world.chain.parties.tokenOwner, await usdc.balanceOf(world.payer(AFFECTED)), {
        ...FIRST,
        // An estimate would count what the batch in the pool is about to take.
        gasLimit: 100_000n,
      });
      await poolHas(world, 2);
      world.sequencer.resume();
      await world.settled();
      const failures = await failuresOf(world, turnOfPayer(world, AFFECTED));
      assert.deepEqual(new Set(failures), new Set(["balance"]));
      assert.equal(failures.length, 5);
      const preflight = { payer: world.payer(AFFECTED), amountUsd: "0.01" };
      const { body } = await world.daemon.ask("POST", "/v1/preflight", preflight);
      assert.equal((body as unknown as { code: string }).code, "payment_failed");
      const books = await world.books({ absorbed: TURN_CHARGES });
      return {
        happened: `${PAYERS - 1} settle, one fails five times and is absorbed; its payer is refused from then on`,
        books,
      };
    },
  },
  {
    number: 28,
    fault: "USDC is paused",
    injected: "`pause` by the token's owner before the turns come in",
    claim: "while USDC is paused everything is held and no attempt is used up",
    async run(world) {
      await world.start();
      await (await world.chain.usdc.pause()).wait();
      await holds(world, "USDC is paused");
      await notReady(world, "settlement", "holding: USDC is paused");
      await world.books({ pending: PAYERS * TURN_CHARGES });
      await (await world.chain.usdc.unpause()).wait();
      await world.settled();
      const books = await world.books();
      assert.equal(books.attempts, 0);
      return { happened: "alert `holding`, not ready, nothing sent; settled when the pause ends", books };
    },
  },
  {
    number: 29,
    fault: "A payer, a developer or the router is blacklisted",
    injected: "Circle bars a developer and, in the block of the batch, a payer; then the router itself",
    claim: "a barred payer's row fails alone, a barred developer is credited, a barred router stops everything",
    async run(world) {
      const { usdc } = world.chain;
      await (await usdc.blacklist(world.tool(0).developer.address)).wait();
      await world.sequencer.stall();
      await world.start({ plan: { policy: { firstRetryMs: 1_500, maxRetryMs: 1_500 } } });
      await world.recordTurns();
      await world.submitted();
      await usdc.blacklist(world.payer(AFFECTED), FIRST);
      await poolHas(world, 2);
      world.sequencer.resume();
      await until("the row to fail", async () => (await failuresOf(world, turnOfPayer(world, AFFECTED))).length === 1);
      await world.books({ pending: TURN_CHARGES });
      await (await usdc.unBlacklist(world.payer(AFFECTED))).wait();
      await world.settled();
      assert.deepEqual(await failuresOf(world, turnOfPayer(world, AFFECTED)), ["blacklisted"]);
      await (await usdc.blacklist(world.chain.router)).wait();
      await holds(world, "USDC has blacklisted the router");
      await (await usdc.unBlacklist(world.chain.router)).wait();
      await world.settled();
      const books = await world.books();
      assert.equal(books.attempts, 1);
      return {
        happened:
          "the payer's row fails and settles later, the developer keeps its credit, the router's bar is an alert",
        books,
      };
    },
  },
  {
    number: 30,
    fault: "The implementation of USDC is upgraded",
    injected: "the proxy's admin points it to another implementation while the daemon is down, and once while it runs",
    claim: "an upgrade of USDC is noticed, also across a restart, and reported once",
    async run(world) {
      const plan = { policy: { tokenCheckMs: 100 } };
      const first = await world.start({ plan });
      await world.recordTurns();
      await world.settled();
      assert.deepEqual(await first.stop(), { code: 0, signal: null });
      const second = await upgradeUsdc(world);
      await world.start({ plan });
      await alertWith(world, "usdc_upgraded", `is now ${second}`);
      const third = await upgradeUsdc(world);
      await alertWith(world, "usdc_upgraded", `was ${second} and is now ${third}`);
      await world.recordTurns();
      await world.settled();
      assert.equal(world.daemon.alerts("usdc_upgraded").length, 2);
      const { out } = await settleCommand(["doctor", "--json"], await world.environment());
      const { checks } = JSON.parse(out) as { checks: { name: string; found: string }[] };
      const found = checks.find(({ name }) => name === "USDC")?.found ?? "";
      assert.ok(found.startsWith(`implementation ${third} since `) && found.endsWith(`before it ${second}`));
      const books = await world.books();
      return { happened: "alert `usdc_upgraded` for each upgrade, `doctor` shows both; settlement goes on", books };
    },
  },
  {
    number: 31,
    fault: "The router is paused, or the operator's role is revoked",
    injected: "the guardian pauses the router, lifts that, and then suspends the operator",
    claim: "either holds everything with an alert; another operator can take over what is held",
    async run(world) {
      const router = world.chain.router.connect(world.chain.parties.guardian);
      await world.start();
      await (await router.pause()).wait();
      await holds(world, "the router is paused");
      await (await router.unpause()).wait();
      await world.settled();
      await (await router.suspendOperator(world.operator.address)).wait();
      await holds(world, "is not an operator");
      await world.books({ pending: PAYERS * TURN_CHARGES });
      await world.daemon.stop();
      await world.start({ keystore: "peer" });
      await world.settled();
      const books = await world.books();
      assert.equal(books.attempts, 0);
      return {
        happened: "two alerts `holding`, nothing sent; a restart with another operator's key settles it",
        books,
      };
    },
  },
  {
    number: 32,
    fault: "The operator is out of gas money",
    injected: "`anvil_setBalance` of zero for the operator before the first batch",
    claim: "without gas money the nonce is kept and an alert raised, and it goes on by itself when funded",
    async run(world) {
      const { address } = world.operator;
      const balance = await world.chain.provider.getBalance(address);
      await world.chain.rpc("anvil_setBalance", [address, "0x0"]);
      await world.start();
      await world.recordTurns();
      await alertWith(world, "holding", "is out of ETH for gas");
      await notReady(world, "operators", "too little ether for gas");
      const { nonce } = await world.submitted();
      await until("several tries", () => world.outcomes().length > 8);
      assert.deepEqual(new Set(world.outcomes()), new Set(["insufficient_funds"]));
      assert.equal(world.signed().length, 1, "whoever cannot pay the first offer does not outbid it");
      await world.chain.rpc("anvil_setBalance", [address, hexOf(balance)]);
      await world.settled();
      const [signed, ...more] = world.signed();
      assert.deepEqual([signed?.nonce, more.length], [nonce, 0]);
      const books = await world.books();
      assert.equal(books.attempts, 0);
      return {
        happened: "alert `holding`, not ready, one transaction signed; the same bytes are mined when funded",
        books,
      };
    },
  },
  {
    number: 33,
    fault: "The operator's key is used elsewhere",
    injected: "the batch is dropped from the pool, and the same key spends its nonce on something else",
    claim: "a nonce that somebody else has spent raises an alarm, and the batch settles once on another one",
    async run(world) {
      const { nonce } = await submitStalled(world);
      const [own] = world.signed();
      await world.chain.rpc("anvil_dropTransaction", [own?.hash]);
      const wallet = world.walletOf(world.operator);
      await wallet.sendTransaction({ to: wallet.address, nonce: nonce ?? 0, ...FIRST });
      await world.sequencer.mine(4);
      await alertWith(world, "key_used_elsewhere", `at nonce ${nonce}`);
      world.sequencer.resume();
      await world.settled();
      const settled = (await world.batches()).find(({ state }) => state === "final");
      assert.ok(((await world.batch(settled?.batch ?? "")).nonce ?? 0) > (nonce ?? 0));
      const books = await world.books();
      assert.deepEqual([books.attempts, books.transactions], [0, 1]);
      return { happened: "alert `key_used_elsewhere` with the nonce; released and settled on the next one", books };
    },
  },
  {
    number: 34,
    fault: "A tool falls below its stake between call and settlement",
    injected: "a developer requests its stake back in the block of the batch, before it",
    claim: "the tool's lines are refused and nobody is charged for them, and the rest settles",
    async run(world) {
      await submitStalled(world);
      const { toolId, developer, stake } = world.tool(1);
      await world.chain.staking.connect(world.walletOf(developer)).requestWithdrawal(toolId, stake, FIRST);
      await poolHas(world, 2);
      world.sequencer.resume();
      await world.settled();
      const books = await world.books({ refused: PAYERS });
      assert.equal(books.attempts, 0);
      return {
        happened: `${PAYERS} lines refused with nobody charged, the other ${PAYERS * (TURN_CHARGES - 1)} settled`,
        books,
      };
    },
  },
];

export const tokenFaults: FaultGroup = { name: "Token and contracts", cases };

// As Circle would: the proxy's admin points it to new code.
async function upgradeUsdc({ chain }: World): Promise<string> {
  const admin = chain.parties.deployer;
  const implementation = await deployUsdcImplementation(admin);
  const proxy = new Contract(await chain.usdc.getAddress(), ["function upgradeTo(address)"], admin);
  await (await proxy.getFunction("upgradeTo").send(implementation)).wait();
  return implementation.toLowerCase();
}
