import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AbiCoder, Contract, ContractFactory, concat, id } from "ethers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../scripts/waiting/until.ts";
import { mined } from "../../scripts/world/mined.ts";
import type { KeyedAccount } from "../../scripts/world/parties.ts";
import type { DueCharge } from "../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../settlement/domain/money.ts";
import { toolIdFromUuid } from "../../settlement/domain/toolId.ts";
import type { ReceiptCourt } from "../../typechain-types/index.ts";
import { addressOf, fail, passTime, startDeployedChain, succeed } from "./chain.ts";
import { API_KEY, openService, serveReceipts, type TestService } from "./testService.ts";

const DAY = 24 * 60 * 60;
const DEPOSIT = 1_000_000n;
const SMART_ACCOUNT = "artifacts/test/solidity/support/SmartAccount.sol/SmartAccount.json";
const ACCOUNT_ABI = ["constructor(address)", "function execute(bytes32 mode, bytes data) payable"];
const usd = (dollars: number) => BigInt(Math.round(dollars * 1_000_000));

// The commands read it when they are loaded.
process.env.MARKETPLACE_API_KEY = API_KEY;

describe("a payer who watches", () => {
  let deployed: Awaited<ReturnType<typeof startDeployedChain>>;
  let service: TestService;
  let market: Awaited<ReturnType<typeof serveReceipts>>;
  let tool: string;
  let settled: string;
  let folder: string;
  const payer = addressOf("payer");
  const neighbour = addressOf("developer");

  const options = () => ["--marketplace", market.url, "--account", payer];
  const watch = (...more: string[]) => succeed(deployed.chain, "payer", "watch", ...options(), ...more);
  const refused = (...more: string[]) => fail(deployed.chain, "payer", "watch", ...options(), ...more);
  // What a watch says that finds something wrong.
  async function complaint(...more: string[]) {
    const run = await deployed.chain.task(
      ["watch", ...options(), "--network", "base", "--json", "--yes", ...more],
      "payer",
    );
    expect(run.code, run.stdout).toBe(1);
    return JSON.parse(run.stdout);
  }
  const balance = () => deployed.usdc.balanceOf(payer);

  beforeAll(async () => {
    deployed = await startDeployedChain();
    const { chain, router, usdc } = deployed;
    await succeed(chain, "operator", "bond", "post", "--yes");
    await succeed(chain, "payer", "cap", "--set", "500", "--yes");
    const listed = await succeed(chain, "developer", "list-tool", "--name", "maps", "--price", "0.10", "--yes");
    tool = toolIdFromUuid(listed.tool);
    service = await openService(router, chain.wallet("operator"));
    market = await serveReceipts(service);
    folder = mkdtempSync(join(tmpdir(), "watch-"));
    expect(await usdc.allowance(payer, await router.getAddress())).toBe(usd(500));
  });

  beforeEach(async () => {
    settled = await deployed.chain.provider.send("evm_snapshot", []);
  });

  afterEach(async () => {
    market.answerHonestly();
    await deployed.chain.provider.send("evm_revert", [settled]);
  });

  afterAll(async () => {
    await market.stop();
    await deployed.chain.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("is told that all is in order as long as it is", async () => {
    expect(await watch()).toEqual({ payer, inOrder: true, batches: [], doubles: [], hidden: [], failed: [] });
    const batchId = await service.settle([
      service.charge(payer, tool, usd(0.1)),
      service.charge(payer, tool, usd(0.25)),
      service.charge(payer, null, usd(0.03)),
    ]);
    const { inOrder, batches } = await watch("--contest", "--yes");
    expect(inOrder).toBe(true);
    expect(batches).toEqual([
      {
        batchId,
        transaction: expect.stringMatching(/^0x/),
        operator: addressOf("operator"),
        settledAt: expect.any(String),
        chargedUsd: "0.38",
        receipts: 3,
        verdict: "right",
        findings: [],
        court: "none",
        owedUsd: "0.00",
      },
    ]);
  });

  it("gets a row without receipts back from the bond, with the deposit", async () => {
    const before = await balance();
    const batchId = await service.settle([service.charge(payer, tool, usd(0.1))], {
      modelCost: usd(5),
      tools: [[tool, usd(0.1)]],
    });
    expect(await refused()).toBe(
      "1 of 1 batch is not in order: demand it back with watch --contest. Nothing was sent.",
    );
    const first = await complaint("--contest");
    expect(first.batches).toMatchObject([
      {
        batchId,
        verdict: "wrong",
        court: "contested",
        findings: ["5.00 USDC were charged for the model, and the receipts are for 0.00 USDC"],
      },
    ]);
    expect(await balance()).toBe(before - usd(5.1) - DEPOSIT);
    // Looking again costs nothing.
    expect((await complaint("--contest")).batches).toMatchObject([{ court: "contested" }]);
    expect(await balance()).toBe(before - usd(5.1) - DEPOSIT);
    await passTime(deployed.chain, 3 * DAY);
    expect(await watch("--contest", "--yes")).toMatchObject({ inOrder: true, batches: [{ court: "refunded" }] });
    expect(await balance()).toBe(before);
  });

  it("that has one deposit left gets everything back with it, the largest row first", async () => {
    const { chain, usdc } = deployed;
    const small = await service.settle([service.charge(payer, tool, usd(0.1))], { modelCost: usd(3) });
    const large = await service.settle([service.charge(payer, tool, usd(0.1))], { modelCost: usd(5) });
    await mined(usdc.connect(chain.wallet("payer")).transfer(neighbour, (await balance()) - DEPOSIT));
    const courts = (...stages: string[]) => [small, large].map((batchId, i) => ({ batchId, court: stages[i] }));
    for (let run = 0; run < 2; run++) {
      const { batches, failed } = await complaint("--contest");
      expect(batches).toMatchObject(courts("none", "contested"));
      expect(failed).toEqual([expect.stringContaining("has 0.00 USDC and 1.00 are needed")]);
    }
    await passTime(chain, 3 * DAY);
    expect((await complaint("--contest")).batches).toMatchObject(courts("contested", "refunded"));
    await passTime(chain, 3 * DAY);
    expect((await watch("--contest", "--yes")).batches).toMatchObject(courts("refunded", "refunded"));
    expect(await balance()).toBe(usd(8) + DEPOSIT);
  });

  it("gets the second payment of a charge back, and the premium if it proves that itself", async () => {
    const before = await balance();
    const due = service.charge(payer, tool, usd(3));
    const first = await service.settle([due]);
    const again = await service.settle([{ ...due, attempts: 1 }, service.charge(payer, tool, usd(0.2))]);
    expect(await complaint()).toMatchObject({
      batches: [{ verdict: "right" }, { verdict: "right" }],
      doubles: [{ charge: due.id, amountUsd: "3.00", first, again, court: "provable" }],
    });
    expect(await watch("--contest", "--yes")).toMatchObject({ inOrder: true, doubles: [{ court: "given back" }] });
    expect(await balance()).toBe(before - usd(3.2) + usd(0.5));
  });

  describe("is stopped by no receipts that an operator has forged", () => {
    // What a dishonest operator puts under a root beside the one good receipt.
    const forgeriesOf = (due: DueCharge): DueCharge[] => [
      { ...due, attempts: 1, amount: microUsdc(0n) },
      { ...due, attempts: 2, amount: microUsdc(usd(9)) },
      { ...due, attempts: 3 },
      { ...due, attempts: 4 },
    ];

    it("of nothing, larger than what was charged, or several of one charge", async () => {
      const before = await balance();
      const due = service.charge(payer, tool, usd(2));
      const forged = await service.settle([due, ...forgeriesOf(due)], { tools: [[tool, usd(2)]] });
      const bad = await service.settle([service.charge(payer, tool, usd(0.1))], { modelCost: usd(5) });
      const { batches, doubles, failed } = await complaint("--contest");
      // The court would be shown one receipt of three, and the deposit would be lost: it is not contested.
      expect(batches).toMatchObject([
        { batchId: forged, court: "none" },
        { batchId: bad, court: "contested" },
      ]);
      expect(doubles).toMatchObject([{ charge: due.id, again: forged, court: "given back" }]);
      expect(failed).toEqual([]);
      // The forged row has come back, with the premium.
      expect(await balance()).toBe(before - usd(5) - DEPOSIT + usd(0.5));
    });

    it("in a proof that somebody has made useless by proving it the other way round", async () => {
      const { chain, receiptCourt } = deployed;
      const due = service.charge(payer, tool, usd(2));
      const copies = [due, { ...due, attempts: 1 }, { ...due, attempts: 2 }];
      await service.settle(copies, { tools: [[tool, usd(6)]] });
      const before = await balance();
      expect((await complaint()).doubles).toHaveLength(2);
      await proveAway(chain.wallet("operator"), receiptCourt);
      await watch("--contest", "--yes");
      // Two of three payments have come back, one of them by the operator's own proof.
      expect(await balance()).toBe(before + usd(4) + usd(0.5));
    });

    // The operator proves that what a payer takes for the rightful payment is the double.
    async function proveAway(operator: KeyedAccount, receiptCourt: ReceiptCourt) {
      const { doubles, batches } = await complaint();
      expect(doubles).toMatchObject([{ court: "provable" }, { court: "provable" }]);
      const [{ transaction, batchId }] = batches;
      const sent = await deployed.chain.provider.getTransaction(transaction);
      const { receipts } = service.answers.get(batchId) as { receipts: { leaf: string; path: string[] }[] };
      const [first, second] = receipts.toSorted((one, other) => (one.leaf < other.leaf ? -1 : 1));
      const settlement = { operator: operator.address, call: sent?.data, exceptions: [] };
      const paid = (receipt: typeof first) => ({ settlement, receipt, path: receipt?.path });
      await mined(receiptCourt.connect(operator).proveDoubleCharge(paid(second) as never, paid(first) as never));
    }
  });

  it("leaves what is worth less than it costs to demand it", async () => {
    const due = service.charge(payer, tool, usd(0.02));
    await service.settle([due]);
    await service.settle([{ ...due, attempts: 1 }]);
    const small = await service.settle([service.charge(payer, tool, usd(0.1))], { modelCost: usd(0.04) });
    const before = await balance();
    const left = await complaint("--contest");
    expect(left.doubles).toMatchObject([{ court: "too small" }]);
    expect(left.batches[2]).toMatchObject({ batchId: small, verdict: "wrong", court: "none" });
    expect(await balance()).toBe(before);
    const demanded = await complaint("--contest", "--least", "0.01");
    expect(demanded.doubles).toMatchObject([{ court: "given back" }]);
    expect(demanded.batches[2]).toMatchObject({ batchId: small, court: "contested" });
  });

  it("proves with receipts of its own folder, whatever the marketplace says later", async () => {
    const due = service.charge(payer, tool, usd(3));
    const first = await service.settle([due]);
    await watch("--receipts", folder);
    expect(readdirSync(folder)).toEqual([`${first}.json`]);
    service.answers.delete(first);
    await service.settle([{ ...due, attempts: 1 }]);
    expect(await complaint("--receipts", folder)).toMatchObject({ doubles: [{ first, court: "provable" }] });
    // A file that somebody has tampered with is asked for again.
    writeFileSync(join(folder, `${first}.json`), "{");
    expect(await complaint("--receipts", folder)).toMatchObject({ batches: [{ verdict: "wrong" }, {}], doubles: [] });
    expect(existsSync(join(folder, `${first}.json.new`))).toBe(false);
  });

  it("proves with receipts that the operator showed to the court alone", async () => {
    const { chain, receiptCourt } = deployed;
    const due = service.charge(payer, tool, usd(3));
    const first = await service.settle([due]);
    const double = { ...due, attempts: 1 };
    const batchId = await service.settle([double]);
    const answer = service.answers.get(batchId);
    service.answers.delete(batchId);
    await complaint("--contest");
    const { receipts } = answer as { receipts: readonly object[] };
    const lines = [
      { toolId: `0x${"0".repeat(32)}`, amount: 0n },
      { toolId: tool, amount: usd(3) },
    ];
    await mined(
      receiptCourt
        .connect(chain.wallet("operator"))
        .answer(batchId, payer, { lines, receipts, places: [1], proof: [], proofFlags: [] } as never),
    );
    expect(await complaint()).toMatchObject({
      batches: [{ verdict: "right" }, { verdict: "right", court: "answered" }],
      doubles: [{ first, again: batchId, court: "provable" }],
    });
    await watch("--contest", "--yes");
  });

  it("takes a retry for what it is", async () => {
    const { chain, usdc, router } = deployed;
    const due = service.charge(payer, tool, usd(3));
    await mined(usdc.connect(chain.wallet("payer")).approve(await router.getAddress(), usd(1)));
    await service.settle([due]);
    await mined(usdc.connect(chain.wallet("payer")).approve(await router.getAddress(), usd(100)));
    await service.settle([{ ...due, attempts: 1 }]);
    expect(await watch()).toMatchObject({ inOrder: true, batches: [{ chargedUsd: "3.00" }], doubles: [] });
  });

  it("sees what was drawn from a prepaid balance, which leaves no transfer behind", async () => {
    const { chain, router } = deployed;
    await succeed(chain, "payer", "deposit", "10", "--yes");
    const batchId = `0x${"77".repeat(32)}`;
    const row = `0x${payer.slice(2).toLowerCase()}01${usd(4).toString(16).padStart(12, "0")}00`;
    const operator = chain.wallet("operator");
    await mined(router.connect(operator).settle(await router.headOf(operator.address), batchId, [], row));
    expect(await complaint()).toMatchObject({ batches: [{ batchId, chargedUsd: "4.00", verdict: "wrong" }] });
  });

  it("finds what an operator settled from within a contract", async () => {
    const { chain, router } = deployed;
    const operator = chain.wallet("operator");
    const { bytecode } = JSON.parse(readFileSync(SMART_ACCOUNT, "utf8"));
    const factory = new ContractFactory(ACCOUNT_ABI, bytecode, chain.wallet("deployer"));
    const account = await (await factory.deploy(operator.address)).waitForDeployment();
    // As an account that has delegated itself (ERC-7702), the operator calls itself, and the router from there.
    const code = concat(["0xef0100", await account.getAddress()]);
    await chain.provider.send("anvil_setCode", [operator.address, code]);
    const batchId = id("a batch of a contract");
    const row = `0x${payer.slice(2).toLowerCase()}00${usd(4).toString(16).padStart(12, "0")}00`;
    const call = router.interface.encodeFunctionData("settle", [await router.headOf(operator), batchId, [], row]);
    const calls = AbiCoder.defaultAbiCoder().encode(
      ["tuple(address,uint256,bytes)[]"],
      [[[await router.getAddress(), 0, call]]],
    );
    const itself = new Contract(operator.address, ACCOUNT_ABI, operator);
    await mined(itself.getFunction("execute")(`0x01${"0".repeat(62)}`, calls));
    expect(await complaint("--contest")).toMatchObject({
      batches: [{ batchId, chargedUsd: "4.00", verdict: "wrong", court: "contested" }],
      hidden: [],
    });
  });

  describe("believes no marketplace", () => {
    const verdict = async (...more: string[]) => (await complaint(...more)).batches[0];
    const json = (body: unknown) => (_: unknown, response: { end(text: string): void }) =>
      response.end(JSON.stringify(body));

    it("that gives receipts of somebody else, of another batch, with another amount, or one twice", async () => {
      const [own, other] = [service.charge(payer, tool, usd(1)), service.charge(payer, tool, usd(1))];
      const elsewhere = await service.settle([other]);
      const foreign = service.charge(neighbour, tool, usd(1));
      const batchId = await service.settle([own, foreign], { tools: [[tool, usd(1)]] });
      const answer = service.answers.get(batchId) as { receipts: { chargedTo: string }[] };
      const mine = answer.receipts.filter(({ chargedTo }) => chargedTo === payer.toLowerCase());
      const theirs = answer.receipts.filter(({ chargedTo }) => chargedTo !== payer.toLowerCase());
      const findings = async (receipts: readonly object[]) => {
        service.answers.set(batchId, { receipts });
        const { batches } = await complaint();
        return batches.find((batch: { batchId: string }) => batch.batchId === batchId).findings;
      };
      const missing = "1.00 USDC were charged for";
      expect(await findings(theirs)).toEqual([
        expect.stringContaining(`is of ${neighbour.toLowerCase()}`),
        expect.stringContaining(missing),
      ]);
      const others = service.answers.get(elsewhere) as { receipts: object[] };
      expect(await findings(others.receipts)).toEqual([
        expect.stringContaining("is not in the batch"),
        expect.stringContaining(missing),
      ]);
      expect(await findings(mine.map((receipt) => ({ ...receipt, amount: "999999" })))).toEqual([
        expect.stringContaining("is not in the batch"),
        expect.stringContaining(missing),
      ]);
      expect(await findings([...mine, ...mine])).toEqual([expect.stringContaining("is shown twice")]);
      expect(await findings([])).toEqual([expect.stringContaining(missing)]);
      service.answers.set(batchId, { receipts: mine });
      expect(await watch()).toMatchObject({ inOrder: true });
    });

    it("that shows what somebody else owes, and does not risk a deposit for it", async () => {
      const owed = service.charge(payer, tool, usd(1), { payer: neighbour.toLowerCase() as never });
      await service.settle([owed]);
      expect(await verdict("--contest")).toMatchObject({
        verdict: "wrong",
        court: "none",
        findings: [`charge ${owed.id} is owed by ${neighbour.toLowerCase()}`],
      });
    });

    it("that is away, refuses the key or answers nonsense, and contests once that has lasted", async () => {
      await service.settle([service.charge(payer, tool, usd(1))]);
      const silent = async (listener: Parameters<typeof market.answerWith>[0]) => {
        market.answerWith(listener);
        const { verdict: word, court, findings } = await verdict("--contest");
        expect([word, court]).toEqual(["unknown", "none"]);
        return findings[0];
      };
      expect(await silent((_, response) => response.writeHead(503).end())).toBe("it answers with 503");
      expect(await silent((_, response) => response.writeHead(401).end())).toContain("check MARKETPLACE_API_KEY");
      expect(await silent((_, response) => response.end("<html>"))).toBe("what it answers is not JSON");
      expect(await silent(json({ receipts: [{ chargeId: "7" }] }))).toContain("receipts.0.chargeId is wrong");
      expect(await silent((request) => request.socket.destroy())).toBe("it cannot be reached");
      expect(await silent((_, response) => response.writeHead(302, { location: "http://127.0.0.1:1" }).end())).toBe(
        "it cannot be reached",
      );
      await passTime(deployed.chain, 2 * DAY);
      expect(await verdict("--contest")).toMatchObject({ verdict: "unknown", court: "contested" });
    });
  });

  it("is told what is missing before anything is asked", async () => {
    expect(await refused("--days", "0")).toContain('--days is "0": write a whole number');
    expect(await refused("--every", "soon")).toContain('--every is "soon": write a whole number');
    expect((await complaint("--follow")).error).toContain("--follow goes on and --json is one document");
  });

  it("is told of what it can no longer contest", async () => {
    await service.settle([service.charge(payer, tool, usd(0.1))], { modelCost: usd(1) });
    await passTime(deployed.chain, 7 * DAY);
    const { code, stdout } = await deployed.chain.task(
      ["watch", ...options(), "--network", "base", "--contest"],
      "payer",
    );
    expect(code).toBe(1);
    expect(stdout).toContain("court    too late to contest it");
  });

  it("follows the chain, contests by itself, and gives up nothing while the marketplace is away", async () => {
    const { chain, receiptCourt } = deployed;
    const before = await balance();
    const command = ["watch", ...options(), "--contest", "--follow", "--every", "1", "--yes", "--network", "base"];
    const program = chain.start(command, { as: "payer", env: { MARKETPLACE_API_KEY: API_KEY } });
    try {
      await program.printed(/was charged in 30 days/);
      await service.settle([service.charge(payer, tool, usd(0.1))]);
      await program.printed(/right: 1 receipt adds up to it/);
      market.answerWith((_, response) => response.writeHead(503).end());
      const bad = await service.settle([service.charge(payer, tool, usd(0.1))], { modelCost: usd(2) });
      await program.printed(/the marketplace is silent: it answers with 503/);
      market.answerHonestly();
      await until("the contest", async () => (await receiptCourt.contestOf(bad, payer)).stage === 1n);
      await passTime(chain, 3 * DAY);
      await until("the refund", async () => (await balance()) === before - usd(0.1));
      await program.printed(/court {4}given back/);
    } finally {
      program.signal("SIGINT");
    }
    expect((await program.ended).code).toBe(0);
  });
});
