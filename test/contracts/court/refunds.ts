// What a convicted tool gives back of what was paid for its calls, on the real stakes and the real receipts.
import { expect } from "chai";
import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { canonicalJson, hashJson, signAnswer } from "../../../marketplace/toolkit/index.ts";
import { ROLES } from "../../../scripts/protocol/description.ts";
import type { DueCharge } from "../../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import { type ToolId, uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import { JsonSchema__factory, SchemaCourt__factory } from "../../../typechain-types/index.ts";
import { DAY, ethers, HOUR, slashTerms, time, usd } from "../fixture.ts";
import { courtroom, PREMIUM, rowsOf, type Settled } from "./courtroom.ts";

const SCHEMA = { type: "object", required: ["price"] };
const BROKEN = {};
const PENALTY = usd("1");
const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const bytesOf = (value: unknown) => ethers.hexlify(ethers.toUtf8Bytes(canonicalJson(value)));

describe("a call for which the tool was convicted", () => {
  it("is given back whatever it cost", async () => {
    const { charge, settleCharges, refund, staking, payer, rich, convict } = await openCourt();
    const call = charge({ toolId: rich, amount: usd("8") });
    const batch = await settleCharges([call]);
    await convict(call);
    await refund(batch, call);
    expect(await staking.creditOf(payer)).to.equal(usd("8"));
    expect((await staking.tool(rich)).stake).to.equal(usd("1000") - usd("8") - PENALTY);
  });

  it("is given back on several days if the stake may not pay it in one", async () => {
    const { charge, settleCharges, refund, staking, court, receiptCourt, operator, payer, fund, tool, convict } =
      await openCourt();
    await fund(payer, usd("100"));
    const call = charge({ toolId: tool, amount: usd("3") });
    const batch = await settleCharges([call]);
    await convict(call);
    // A quarter of 9 USDC, less the penalty.
    await expect(refund(batch, call))
      .to.emit(court, "ChargeRefunded")
      .withArgs(tool, call.id, payer, usd("1.25"), usd("1.75"));
    await expect(refund(batch, call)).to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded");
    await time.increase(32 * HOUR);
    await court.collect(tool, call.id, operator, payer);
    expect(await staking.creditOf(payer)).to.equal(usd("3"));
    await expect(court.collect(tool, call.id, operator, payer)).to.be.revertedWithCustomError(court, "AlreadyRefunded");
  });

  it("is given back to the insurance account if that has paid it", async () => {
    const { charge, settleCharges, refund, staking, fund, insurance, tool, convict } = await openCourt();
    await fund(insurance, usd("10"));
    const call = charge({ toolId: tool, chargedTo: insurance });
    const batch = await settleCharges([call]);
    await convict(call);
    const before = await staking.creditOf(insurance);
    await refund(batch, call);
    expect((await staking.creditOf(insurance)) - before).to.equal(usd("0.10"));
  });

  it("is given back to its payer whatever receipt another operator writes for it", async () => {
    const { charge, settleCharges, refund, staking, payer, rich, convict, neighbour, stranger, ...market } =
      await openCourt();
    const { asAdmin, router, postBond, fund, receiptCourt } = market;
    await asAdmin(router.setOperatorLimit.populateTransaction(neighbour, usd("100")));
    await postBond(neighbour, usd("100"));
    await fund(stranger, usd("10"));
    const call = charge({ toolId: rich });
    const batch = await settleCharges([call]);
    await convict(call);
    // All of it is public by now: the other operator charges a wallet of its own for the same charge.
    const copied = { ...call, chargedTo: stranger.address.toLowerCase() as Address };
    const forged = await settleCharges([copied], { by: neighbour });
    await refund(forged, copied);
    await refund(batch, call);
    expect(await staking.creditOf(payer)).to.equal(usd("0.10"));
    // It has back what it paid, most of which the tool was credited, and no more.
    await expect(refund(forged, copied)).to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded");
    expect(await staking.creditOf(stranger)).to.equal(usd("0.10"));
  });

  it("is given back to its payer although the same operator has written it another receipt, for a wallet of its own", async () => {
    const { charge, settleCharges, refund, staking, payer, rich, convict, stranger, fund } = await openCourt();
    await fund(stranger, usd("10"));
    const call = charge({ toolId: rich });
    const batch = await settleCharges([call]);
    await convict(call);
    const copied = { ...call, chargedTo: stranger.address.toLowerCase() as Address };
    await refund(await settleCharges([copied]), copied);
    await refund(batch, call);
    expect(await staking.creditOf(payer)).to.equal(usd("0.10"));
  });

  it("is given back whatever number of calls the operator has written into its receipt", async () => {
    const { charge, settleCharges, refund, staking, payer, rich, convict } = await openCourt();
    const credit = async (calls: number) => {
      const before = await staking.creditOf(payer);
      const call = { ...charge({ toolId: rich }), for: { kind: "tool" as const, toolId: rich as ToolId, calls } };
      const batch = await settleCharges([call]);
      await convict(call);
      await refund(batch, call);
      return (await staking.creditOf(payer)) - before;
    };
    expect(await credit(0)).to.equal(usd("0.10"));
    expect(await credit(3)).to.equal(33_334n);
    expect(await credit(Number.MAX_SAFE_INTEGER)).to.equal(1n);
  });

  it("is given back although the tool has first used up the day with convictions of its own", async () => {
    const { charge, settleCharges, refund, staking, court, operator, payer, tool, convict } = await openCourt();
    const call = charge({ toolId: tool });
    const batch = await settleCharges([call]);
    // A quarter of 10 USDC are two penalties and a half, and it has half of each back.
    await convict(charge({ toolId: tool }));
    await convict(charge({ toolId: tool }));
    await convict(charge({ toolId: tool }));
    await convict(call);
    await refund(batch, call);
    expect(await staking.creditOf(payer)).to.equal(0n);
    await time.increase(32 * HOUR);
    await court.collect(tool, call.id, operator, payer);
    expect(await staking.creditOf(payer)).to.equal(usd("0.10"));
  });

  it("is given back although the adjudicator has asked for all of the stake meanwhile, and let it go", async () => {
    const { charge, settleCharges, refund, staking, court, operator, adjudicator, payer, rich, convict } =
      await openCourt();
    const call = charge({ toolId: rich });
    const batch = await settleCharges([call]);
    await staking.connect(adjudicator).proposeSlash(rich, slashTerms({ amount: usd("1000") }));
    await convict(call);
    await refund(batch, call);
    await time.increase(3 * DAY + 1);
    await staking.connect(adjudicator).dismissSlash(rich);
    await court.collect(rich, call.id, operator, payer);
    expect(await staking.creditOf(payer)).to.equal(usd("0.10"));
  });

  it("is given back by one court and not again by the other", async () => {
    const { charge, settleCharges, refund, paid, receiptCourt, bonds, staking, payer, tool, convict } =
      await openCourt();
    const call = charge({ toolId: tool, amount: usd("1") });
    const again = { ...call, attempts: 1 };
    const [first, second] = [await settleCharges([call]), await settleCharges([again])];
    await convict(call);
    await receiptCourt.proveDoubleCharge(paid(first, call), paid(second, again));
    await expect(refund(second, again)).to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded");
    await refund(first, call);
    // Both payments, each of them once; the prover, who is nobody here, has the premium.
    expect((await staking.creditOf(payer)) + (await bonds.creditOf(payer))).to.equal(usd("2"));
    expect(PREMIUM).to.be.lessThan(usd("1"));
  });

  it("is given back although somebody with the operator's key has first shown a smaller receipt for it", async () => {
    const { charge, settleCharges, refund, court, staking, payer, rich, convict } = await openCourt();
    const call = charge({ toolId: rich, amount: usd("8") });
    const batch = await settleCharges([call]);
    await convict(call);
    const small = { ...call, amount: microUsdc(1n) };
    const forged = await settleCharges([small]);
    await refund(forged, small);
    await refund(batch, call);
    // What its largest payment came to, and no more.
    expect(await staking.creditOf(payer)).to.equal(usd("8"));
    const smaller = { ...call, amount: microUsdc(2n) };
    await expect(refund(await settleCharges([smaller]), smaller)).to.be.revertedWithCustomError(
      court,
      "AlreadyRefunded",
    );
  });
});

describe("an operator who is given something back by both courts", () => {
  // Of a tool that was convicted: a call that somebody paid, and copies of it for a wallet of the operator's own.
  async function openForgery() {
    const market = await openCourt();
    const { charge, settleCharges, rich, convict, stranger, fund, staking, bonds } = market;
    await fund(stranger, usd("10"));
    const call = charge({ toolId: rich, amount: usd("2") });
    const batch = await settleCharges([call]);
    await convict(call);
    const copyOf = (amount = usd("2"), attempts = 0) =>
      ({ ...call, amount, attempts, chargedTo: stranger.address.toLowerCase() }) as DueCharge;
    const given = async () => (await staking.creditOf(stranger)) + (await bonds.creditOf(stranger));
    return { ...market, call, batch, copyOf, given };
  }

  it("has no more back than its wallet has paid, whoever is said to have paid first", async () => {
    const { settleCharges, refund, paid, receiptCourt, batch, call, copyOf, given } = await openForgery();
    const copy = copyOf();
    const forged = await settleCharges([copy]);
    await refund(forged, copy);
    await expect(receiptCourt.proveDoubleCharge(paid(batch, call), paid(forged, copy))).to.be.revertedWithCustomError(
      receiptCourt,
      "AlreadyRefunded",
    );
    expect(await given()).to.equal(usd("2"));
  });

  it("nor by a second receipt in the same row", async () => {
    const { settleCharges, refund, paid, receiptCourt, batch, call, copyOf, given } = await openForgery();
    const [one, other] = [copyOf(), copyOf(usd("2"), 1)];
    const forged = await settleCharges([one, other], { rows: rowsOf([one]) });
    await refund(forged, one);
    await expect(receiptCourt.proveDoubleCharge(paid(batch, call), paid(forged, other))).to.be.revertedWithCustomError(
      receiptCourt,
      "AlreadyRefunded",
    );
    expect(await given()).to.equal(usd("2"));
  });

  it("nor the other way round", async () => {
    const { settleCharges, refund, paid, receiptCourt, batch, call, copyOf, given } = await openForgery();
    const [one, other] = [copyOf(), copyOf(usd("2"), 1)];
    const forged = await settleCharges([one, other], { rows: rowsOf([one]) });
    await receiptCourt.proveDoubleCharge(paid(batch, call), paid(forged, one));
    await expect(refund(forged, other)).to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded");
    expect(await given()).to.equal(usd("2"));
  });

  it("nor by a first payment of next to nothing", async () => {
    const { settleCharges, refund, paid, receiptCourt, copyOf, given } = await openForgery();
    const [tiny, copy] = [copyOf(3n), copyOf()];
    const first = await settleCharges([tiny]);
    const forged = await settleCharges([copy]);
    await refund(forged, copy);
    await receiptCourt.proveDoubleCharge(paid(first, tiny), paid(forged, copy));
    expect(await given()).to.equal(usd("2") + 3n);
  });
});

// Both courts on one marketplace, and a tool with a high price beside the usual one.
async function openCourt() {
  const market = await courtroom();
  const { deployer, developer, reporter, manager, staking, receiptCourt, asAdmin, tool, listTool, paid } = market;
  const judge = await new JsonSchema__factory(deployer).deploy();
  const court = await new SchemaCourt__factory(deployer).deploy(staking, judge, receiptCourt);
  const address = (await court.getAddress()) as Address;
  await asAdmin(manager.grantRole.populateTransaction(ROLES.court, address, 0));
  const rich = await listTool({ price: usd("8"), stake: usd("1000") });
  for (const toolId of [tool, rich]) {
    await court.connect(developer).registerKey(toolId, account.address);
    await court.connect(developer).pinSchema(toolId, "quote", hashJson(SCHEMA));
  }
  const { chainId } = await ethers.provider.getNetwork();

  async function convict(call: DueCharge): Promise<void> {
    if (call.for.kind !== "tool") throw new Error("it is a call of a tool");
    const { toolId } = call.for;
    const answeredAt = await time.latest();
    const given = { method: "quote", args: {}, chargeId: call.id as Hex, content: BROKEN, schema: SCHEMA };
    const { signature, ...answer } = await signAnswer(given, {
      toolId: uuidFromToolId(toolId),
      account,
      court: { chainId: Number(chainId), address },
      nowMs: () => answeredAt * 1_000,
    });
    await court.connect(reporter).convict({ ...answer, toolId }, bytesOf(SCHEMA), bytesOf(BROKEN), signature);
  }

  const refund = (batch: Settled, call: DueCharge) =>
    court.refund(call.for.kind === "tool" ? call.for.toolId : "", call.id, paid(batch, call));

  return { ...market, court, rich, convict, refund };
}
