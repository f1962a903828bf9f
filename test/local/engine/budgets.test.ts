import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { AbiCoder, type Contract, ContractFactory, concat, zeroPadBytes } from "ethers";
import { type Address, createWalletClient, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { base } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mined } from "../../../scripts/world/mined.ts";
import { openWorldEngine, type WorldEngine } from "../../../scripts/world/openWorldEngine.ts";
import type { KeyedAccount } from "../../../scripts/world/parties.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { budgetDigest, signBudget } from "../../../settlement/chain/router/budgetDigest.ts";
import { decodeSettle } from "../../../settlement/chain/router/settleCall.ts";
import { NO_HASH, NO_HASHES } from "../../../settlement/domain/charges/charge.ts";
import type { Turn } from "../../../settlement/domain/charges/turn.ts";
import { type MicroUsdc, microUsdc, parseUsd } from "../../../settlement/domain/money.ts";
import type { Budget, SignedBudget } from "../../../settlement/domain/payer/budget.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";
import { signForAccount } from "./signForAccount.ts";

const FUNDS = parseUsd("1000");
const HOUR_MS = 3_600_000;
const SMART_ACCOUNT = "artifacts/test/solidity/support/SmartAccount.sol/SmartAccount.json";

describe("what payers sign, on a real chain", () => {
  let world: LocalWorld;
  let settlement: WorldEngine;
  let folder: string;
  let names = 0;

  beforeAll(async () => {
    folder = mkdtempSync(join(DISKLESS, "settlement-"));
    world = await startWorld({ tools: 2, payers: 12, toolPrice: parseUsd("4") });
    settlement = await openWorldEngine(world, { ledger: join(folder, "ledger.db") });
  });
  afterAll(async () => {
    await settlement?.close();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const domain = () => ({ chainId: world.chainId, router: settlement.chain.router });
  const toolOf = (n: number) => world.tools[n]?.toolId ?? expect.fail("there is no such tool");
  const payerOf = (n: number): KeyedAccount => world.payers[n] ?? expect.fail("there is no such payer");
  const inSeconds = (ms: number) => BigInt(Math.floor((settlement.clock.nowMs() + ms) / 1_000));

  const termsOf = (payer: Address, usd: string, fields: Partial<Budget> = {}): Budget => ({
    payer: payer.toLowerCase() as Address,
    id: 7n,
    maxSpend: parseUsd(usd),
    validUntil: inSeconds(24 * HOUR_MS),
    tools: [],
    ...fields,
  });
  const sign = (key: KeyedAccount, usd: string, fields: Partial<Budget> = {}): Promise<SignedBudget> =>
    signBudget(privateKeyToAccount(key.privateKey), domain(), termsOf(key.address, usd, fields));

  const demandConsent = (payer: KeyedAccount) => mined(world.router.connect(payer).setConsentRequired(true));
  const paidBy = async (account: string) => FUNDS - (await world.usdc.balanceOf(account));
  const onChain = async (payer: string, id = 7n) => (await world.router.budgetOf(payer, id)).budget;

  const call = (sessionId: string, usd: string, toolId = toolOf(0)) => ({
    callId: `call-${names++}`,
    sessionId,
    toolId,
    method: "quote",
    amount: parseUsd(usd),
  });
  // Holds and captures; what the engine says if it does not hold.
  async function use(sessionId: string, usd: string, brought: SignedBudget | null = null) {
    const asked = call(sessionId, usd);
    const held = await settlement.engine.hold(asked, brought);
    if (held.kind === "held") await settlement.engine.capture(asked.callId, NO_HASHES);
    return held.kind === "refused" ? held.preflight.code : held.kind;
  }
  async function open(payer: Address, signed: SignedBudget | null, maxSpend: MicroUsdc = parseUsd("10")) {
    const { engine } = settlement;
    const id = `session-${names++}`;
    await settlement.untilCacheIsOld();
    const started = await engine.startSession(id, payer, maxSpend, undefined, signed);
    return { id, kind: started.kind === "refused" ? started.preflight.code : started.kind };
  }
  // The budgets of the rows of one payer, in the order of the batches.
  async function broughtBy(payer: Address) {
    const { ledger } = settlement;
    const batchIds = (await ledger.listBatches(100, 0)).map(({ batchId }) => batchId).reverse();
    const rows = await Promise.all(
      batchIds.map(async (batchId) => decodeSettle((await ledger.findSubmission(batchId))?.calldata ?? "0x").rows),
    );
    return rows.flat().flatMap((row) => (row.payer === payer.toLowerCase() ? [row.budget] : []));
  }
  async function settleForGood() {
    await settlement.settleAll();
    await world.rpc("anvil_mine", ["0x5"]);
    await settlement.engine.tick();
  }

  it("the digest that is signed is the contract's", async () => {
    for (const tools of [[], [toolOf(0)], [toolOf(1), toolOf(0)]]) {
      const budget = termsOf(payerOf(0).address, "3", { id: 2n ** 64n - 1n, tools });
      const { payer, id, maxSpend, validUntil } = budget;
      expect(budgetDigest(domain(), budget)).toBe(
        await world.router.budgetDigest(payer, id, maxSpend, validUntil, [...tools]),
      );
    }
  });

  it("a payer who demands consent buys under a budget, and in no other way", async () => {
    const payer = payerOf(1);
    await demandConsent(payer);
    expect(await open(payer.address, null)).toMatchObject({ kind: "consent_required" });
    const signed = await sign(payer, "2", { tools: [toolOf(0)] });
    const session = await open(payer.address, signed);
    expect(session.kind).toBe("opened");
    expect(await use(session.id, "1.50")).toBe("held");
    expect(await use(session.id, "0.60")).toBe("budget_exceeded");
    const other = await settlement.engine.hold(call(session.id, "0.10", toolOf(1)));
    expect(other).toMatchObject({ kind: "refused", preflight: { code: "budget_tools" } });
    await settlement.engine.closeSession(session.id);
    await settleForGood();
    expect(await paidBy(payer.address)).toBe(parseUsd("1.50"));
    expect(await onChain(payer.address)).toMatchObject([parseUsd("2"), parseUsd("1.50"), signed.validUntil, 0n, true]);

    // The chain has it for good now, so that it is not brought again.
    const next = await open(payer.address, signed);
    expect(await use(next.id, "0.50")).toBe("held");
    expect(await use(next.id, "0.01")).toBe("budget_exceeded");
    await settlement.engine.closeSession(next.id);
    await settleForGood();
    expect(await paidBy(payer.address)).toBe(parseUsd("2"));
    const [first, second] = await broughtBy(payer.address);
    expect(first).toMatchObject({ id: 7n, tools: [toolOf(0)], signed: { maxSpend: parseUsd("2") } });
    expect(second).toEqual({ id: 7n, tools: [toolOf(0)] });
  });

  it("whoever trusts nobody signs for every call, and the chain sees the newest signature alone", async () => {
    const payer = payerOf(2);
    await demandConsent(payer);
    const session = await open(payer.address, await sign(payer, "0.000001"));
    for (const usd of ["1", "2", "3"]) {
      expect(await use(session.id, "1")).toBe("budget_exceeded");
      expect(await use(session.id, "1", await sign(payer, usd))).toBe("held");
    }
    // One that is late changes nothing.
    expect(await use(session.id, "0.10", await sign(payer, "1.20"))).toBe("budget_exceeded");
    await settlement.engine.closeSession(session.id);
    await settleForGood();
    expect(await paidBy(payer.address)).toBe(parseUsd("3"));
    expect((await broughtBy(payer.address)).map((budget) => budget?.signed?.maxSpend)).toEqual([parseUsd("3")]);
  });

  it("a Query turn draws on a budget, and is recorded whole or not at all", async () => {
    const { engine } = settlement;
    const payer = payerOf(3);
    await demandConsent(payer);
    const turn: Turn = {
      id: "turn on a budget",
      payer: payer.address,
      outcome: "delivered",
      modelCost: parseUsd("0.02"),
      tools: [{ toolId: toolOf(0), amount: parseUsd("0.10"), calls: 3 }],
      requestHash: NO_HASH,
      responseHash: NO_HASH,
      budgetId: 7n,
    };
    expect(await engine.recordTurn(turn)).toMatchObject({ kind: "refused", code: "consent_required" });
    await engine.keepBudget(await sign(payer, "0.11"));
    expect(await engine.recordTurn(turn)).toMatchObject({ kind: "refused", code: "budget_exceeded" });
    const raised = await sign(payer, "0.12");
    expect(await engine.preflight(payer.address, parseUsd("0.12"), raised)).toMatchObject({ code: "ok" });
    expect(await engine.recordTurn(turn)).toMatchObject({ kind: "recorded" });
    expect(await engine.recordTurn(turn)).toMatchObject({ kind: "duplicate" });
    expect(await engine.preflight(payer.address, microUsdc(1n), raised)).toMatchObject({ code: "budget_exceeded" });
    await settleForGood();
    expect(await paidBy(payer.address)).toBe(parseUsd("0.12"));
    expect(await engine.listBudgets(payer.address, 10, 0)).toMatchObject([
      { known: { pending: 0n, held: 0n, taken: parseUsd("0.12") }, remaining: 0n },
    ]);
  });

  it("a signature counts if it is the payer's, for this chain and this router", async () => {
    const { engine } = settlement;
    const [payer, stranger] = [payerOf(4), payerOf(5)];
    const budget = termsOf(payer.address, "5");
    const key = privateKeyToAccount(payer.privateKey);
    const { signature } = await signBudget(key, domain(), budget);
    const highS =
      0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n - BigInt(`0x${signature.slice(66, 130)}`);
    const flipped = signature.endsWith("1b") ? "1c" : "1b";
    const forged: SignedBudget[] = [
      await signBudget(privateKeyToAccount(stranger.privateKey), domain(), budget),
      await signBudget(key, { ...domain(), chainId: 1 }, budget),
      await signBudget(key, { ...domain(), router: stranger.address }, budget),
      { ...budget, signature, maxSpend: parseUsd("6") },
      { ...budget, signature: "0x" },
      // The same point twice, which the contract takes once.
      { ...budget, signature: `${signature.slice(0, 66)}${highS.toString(16).padStart(64, "0")}${flipped}` as Hex },
    ];
    for (const one of forged) {
      expect(await engine.keepBudget(one)).toMatchObject({ kind: "refused", code: "budget_forged" });
    }
    expect(await engine.keepBudget({ ...budget, signature })).toMatchObject({ kind: "kept" });
    const narrower = await sign(payer, "6", { validUntil: budget.validUntil - 1n });
    expect(await engine.keepBudget(narrower)).toMatchObject({ kind: "refused", code: "conflict" });
  });

  it("a smart account (ERC-1271) demands consent, signs with its owner's key and pays", async () => {
    const owner = payerOf(6);
    const { abi, bytecode } = JSON.parse(readFileSync(SMART_ACCOUNT, "utf8"));
    const account = await new ContractFactory(abi, bytecode, owner).deploy(owner.address);
    await account.waitForDeployment();
    const address = (await account.getAddress()) as Address;
    await mined(world.usdc.connect(owner).transfer(address, parseUsd("50")));
    const execute = async (target: string, data: string) => {
      const calls = AbiCoder.defaultAbiCoder().encode(
        ["tuple(address target, uint256 value, bytes data)[]"],
        [[{ target, value: 0n, data }]],
      );
      await mined((account as Contract).getFunction("execute")(concat(["0x01", zeroPadBytes("0x", 31)]), calls));
    };
    const router = await world.router.getAddress();
    await execute(await world.usdc.getAddress(), world.usdc.interface.encodeFunctionData("approve", [router, FUNDS]));
    await execute(router, world.router.interface.encodeFunctionData("setConsentRequired", [true]));

    const budget = termsOf(address, "2");
    const byOwner = await signBudget(privateKeyToAccount(owner.privateKey), domain(), budget);
    // What the key signs for itself is not the account's word.
    expect(await settlement.engine.keepBudget(byOwner)).toMatchObject({ code: "budget_forged" });
    const session = await open(address, await signForAccount(owner, domain(), budget));
    expect(session.kind).toBe("opened");
    expect(await use(session.id, "2")).toBe("held");
    expect(await use(session.id, "0.01")).toBe("budget_exceeded");
    await settlement.engine.closeSession(session.id);
    await settleForGood();
    expect(await world.usdc.balanceOf(address)).toBe(parseUsd("48"));
    expect((await onChain(address)).spent).toBe(parseUsd("2"));
  });

  it("an account whose key has code of its own (ERC-7702) signs with its key", async () => {
    const payer = payerOf(7);
    const { abi, bytecode } = JSON.parse(readFileSync(SMART_ACCOUNT, "utf8"));
    const code = await new ContractFactory(abi, bytecode, payerOf(8)).deploy(payerOf(8).address);
    await code.waitForDeployment();
    const wallet = createWalletClient({
      account: privateKeyToAccount(payer.privateKey),
      chain: base,
      transport: http(world.url),
    });
    const authorization = await wallet.signAuthorization({
      contractAddress: (await code.getAddress()) as Address,
      executor: "self",
    });
    const hash = await wallet.sendTransaction({ to: payer.address, authorizationList: [authorization] });
    await world.provider.waitForTransaction(hash);
    expect(await world.provider.getCode(payer.address)).toMatch(/^0xef0100/);
    await demandConsent(payer);
    const session = await open(payer.address, await sign(payer, "2"));
    expect(await use(session.id, "1.25")).toBe("held");
    await settlement.engine.closeSession(session.id);
    await settleForGood();
    expect(await paidBy(payer.address)).toBe(parseUsd("1.25"));
  });

  it("a budget that ends before settlement may be done takes nothing new", async () => {
    const payer = payerOf(9);
    await demandConsent(payer);
    const soon = await sign(payer, "2", { validUntil: inSeconds(HOUR_MS / 2) });
    expect(await open(payer.address, soon)).toMatchObject({ kind: "budget_expired" });
    const later = await sign(payer, "3");
    const session = await open(payer.address, later);
    expect(await use(session.id, "1")).toBe("held");

    // Ended by its payer: nothing new, and what was delivered is settled in the grace.
    await mined(world.router.connect(payer).endBudget(7n));
    await settlement.untilCacheIsOld();
    expect(await use(session.id, "1")).toBe("budget_expired");
    await settlement.engine.closeSession(session.id);
    await settleForGood();
    expect(await paidBy(payer.address)).toBe(parseUsd("1"));
  });

  it("what is settled too late is not charged to the payer, who owes it", async () => {
    const { engine, ledger, clock } = settlement;
    const payer = payerOf(10);
    await demandConsent(payer);
    const session = await open(payer.address, await sign(payer, "3", { validUntil: inSeconds(2 * HOUR_MS) }));
    expect(await use(session.id, "1")).toBe("held");
    await world.rpc("evm_increaseTime", [3 * 3_600]);
    await world.rpc("anvil_mine", ["0x1"]);
    clock.advance(3 * HOUR_MS);
    await engine.closeSession(session.id);
    await settleForGood();
    expect(await paidBy(payer.address)).toBe(0n);
    expect(await ledger.readExposures([payer.address])).toMatchObject([{ pending: 0n, debt: parseUsd("1") }]);
  });

  it("a payer who demands nothing is charged as before, beside what it signed", async () => {
    const payer = payerOf(11);
    const [plain, signed] = [await open(payer.address, null), await open(payer.address, await sign(payer, "1"))];
    expect(await use(plain.id, "4")).toBe("held");
    expect(await use(signed.id, "1")).toBe("held");
    expect(await use(signed.id, "0.01")).toBe("budget_exceeded");
    for (const { id } of [plain, signed]) await settlement.engine.closeSession(id);
    await settleForGood();
    expect(await paidBy(payer.address)).toBe(parseUsd("5"));
    // A row draws on one budget or on none.
    expect((await broughtBy(payer.address)).map((budget) => budget?.id ?? null).sort()).toEqual([7n, null]);
    expect((await onChain(payer.address)).spent).toBe(parseUsd("1"));
    expect(await engineAgrees()).toEqual("equal");
  });

  const engineAgrees = async () => (await settlement.engine.audit()).kind;
});
