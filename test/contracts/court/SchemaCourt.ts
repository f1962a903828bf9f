import { expect } from "chai";
import { ZeroAddress, ZeroHash } from "ethers";
import hre from "hardhat";
import type { Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { answerOf, OUTPUT_SCHEMA } from "../../../bench/court/typicalAnswer.ts";
import { canonicalJson, hashJson, signAnswer } from "../../../marketplace/toolkit/index.ts";
import { ROLES } from "../../../scripts/protocol/description.ts";
import { uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import { JsonSchema__factory, SchemaCourt__factory } from "../../../typechain-types/index.ts";
import { DAY, ethers, HOUR, marketplace, time, usd } from "../fixture.ts";

const SCHEMA = { type: "object", required: ["price"], properties: { price: { minimum: 0 } } };
const BROKEN = { price: -1 };
const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const bytesOf = (value: unknown) => ethers.hexlify(ethers.toUtf8Bytes(canonicalJson(value)));

// The court on the real registry, with answers that the toolkit has signed.
async function openCourt() {
  const market = await marketplace();
  const { deployer, developer, manager, staking, asAdmin, tool } = market;
  const judge = await new JsonSchema__factory(deployer).deploy();
  const court = await new SchemaCourt__factory(deployer).deploy(staking, judge, ZeroAddress);
  const address = (await court.getAddress()) as Address;
  await asAdmin(manager.grantRole.populateTransaction(ROLES.court, address, 0));
  await court.connect(developer).registerKey(tool, account.address);
  await court.connect(developer).pinSchema(tool, "quote", hashJson(SCHEMA));
  const { chainId } = await ethers.provider.getNetwork();

  async function convict(charge: string, { content = BROKEN as unknown, schema = SCHEMA as unknown, at = 0 } = {}) {
    const answeredAt = at || (await time.latest());
    const given = { method: "quote", args: {}, chargeId: hashJson(charge), content, schema };
    const { signature, ...answer } = await signAnswer(given, {
      toolId: uuidFromToolId(tool),
      account,
      court: { chainId: Number(chainId), address },
      nowMs: () => answeredAt * 1_000,
    });
    const signed = { ...answer, toolId: tool };
    return court.connect(market.reporter).convict(signed, bytesOf(schema), bytesOf(content), signature);
  }

  return { ...market, court, convict };
}

describe("SchemaCourt on the registry's stakes", () => {
  it("takes a dollar for a broken promise: half for the reporter, half for the insurance account", async () => {
    const { court, staking, convict, reporter, insurance, tool } = await openCourt();
    const { stake } = await staking.tool(tool);
    await expect(convict("one")).to.emit(court, "Convicted").and.to.emit(staking, "Penalized");
    expect((await staking.tool(tool)).stake).to.equal(stake - usd("1"));
    expect(await staking.creditOf(reporter)).to.equal(usd("0.5"));
    expect(await staking.creditOf(insurance)).to.equal(usd("0.5"));
  });

  it("convicts of an answer of 2 KB under a schema of 1 KB for less than 2 million gas", async function () {
    // Contracts that are instrumented for coverage cost more.
    if (hre.globalOptions.coverage) this.skip();
    const { court, convict, developer, tool } = await openCourt();
    const schema = { ...OUTPUT_SCHEMA, description: "What is on offer. ".repeat(8) };
    await court.connect(developer).pinSchema(tool, "quote", hashJson(schema));
    await time.increase(DAY);
    const content = answerOf(2_100);
    expect(canonicalJson(content).length).to.be.at.least(2 * 1024);
    expect(canonicalJson(schema).length).to.be.at.least(1024);
    const { gasUsed = 0n } = (await (await convict("large", { content, schema })).wait()) ?? {};
    expect(gasUsed).to.be.within(1n, 2_000_000n);
  });

  it("convicts once for each charge", async () => {
    const { court, convict } = await openCourt();
    await convict("one");
    await expect(convict("one")).to.be.revertedWithCustomError(court, "AlreadyConvicted");
  });

  it("takes no more in a day than the registry allows, of which the reporter has half, and convicts all the same", async () => {
    const { court, staking, usdc, convict, developer, reporter, insurance, tool } = await openCourt();
    const { stake } = await staking.tool(tool);
    await convict("one");
    await convict("two");
    // A quarter of the 8 USDC that are left, less the two that were taken: nothing.
    await expect(convict("three")).to.emit(court, "Convicted").and.to.emit(staking, "Penalized");
    expect((await staking.tool(tool)).stake).to.equal(stake - usd("2"));
    await expect(convict("three")).to.be.revertedWithCustomError(court, "AlreadyConvicted");
    await usdc.mint(developer, usd("2.5"));
    await usdc.connect(developer).approve(staking, usd("2.5"));
    await staking.connect(developer).stake(tool, usd("2.5"));
    // And of 10.50 USDC 0.625.
    await convict("four");
    expect((await staking.tool(tool)).stake).to.equal(stake + usd("0.5") - usd("0.625"));
    expect(await staking.creditOf(reporter)).to.equal(usd("1") + usd("0.3125"));
    expect(await staking.creditOf(insurance)).to.equal(usd("1") + usd("0.3125"));
    await time.increase(32 * HOUR);
    await convict("five");
    expect(await staking.creditOf(reporter)).to.equal(usd("1.5") + usd("0.3125"));
  });

  it("reaches a stake that is on its way out", async () => {
    const { court, staking, convict, developer, tool } = await openCourt();
    const { stake } = await staking.tool(tool);
    const answeredAt = await time.latest();
    await staking.connect(developer).requestWithdrawal(tool, stake);
    await time.increase(2 * DAY);
    await expect(convict("one", { at: answeredAt })).to.emit(court, "Convicted");
    expect(await court.ANSWER_WINDOW()).to.be.lessThan(await staking.WITHDRAWAL_DELAY());
  });

  it("convicts of nothing that was not promised, is unknown, or is too old", async () => {
    const { court, convict, developer, tool } = await openCourt();
    await expect(convict("one", { schema: false })).to.be.revertedWithCustomError(court, "SchemaNotInForce");
    await expect(convict("one", { content: { price: 1 } }))
      .to.be.revertedWithCustomError(court, "NotInvalid")
      .withArgs(1);
    const answeredAt = await time.latest();
    await time.increase(3 * DAY + 1);
    await expect(convict("one", { at: answeredAt })).to.be.revertedWithCustomError(court, "OutsideWindow");
    const schema = { not: { pattern: "[a-z]" } };
    await court.connect(developer).pinSchema(tool, "quote", hashJson(schema));
    await time.increase(DAY);
    await expect(convict("one", { schema, content: "abc" }))
      .to.be.revertedWithCustomError(court, "NotInvalid")
      .withArgs(0);
  });

  it("lets no promise be replaced at once by taking it back first", async () => {
    const { court, developer, tool } = await openCourt();
    const owned = court.connect(developer);
    await owned.pinSchema(tool, "quote", ZeroHash);
    await owned.pinSchema(tool, "quote", hashJson(true));
    const { from } = await court.schemaPeriod(tool, "quote", hashJson(true));
    expect(from).to.equal((await time.latest()) + DAY);
  });

  it("lets no tool escape by revoking, registering or pinning again", async () => {
    const { court, convict, developer, tool } = await openCourt();
    const answeredAt = await time.latest();
    const owned = court.connect(developer);
    await owned.revokeKey(tool, account.address);
    await owned.pinSchema(tool, "quote", hashJson(true));
    await time.increase(DAY);
    await owned.registerKey(tool, account.address);
    await owned.pinSchema(tool, "quote", hashJson(SCHEMA));
    await expect(convict("one", { at: answeredAt })).to.emit(court, "Convicted");
  });
});
