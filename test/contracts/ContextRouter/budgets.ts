import { expect } from "chai";
import type { RowBudget } from "../../../settlement/domain/batch/batch.ts";
import type { ToolId } from "../../../settlement/domain/toolId.ts";
import { BUDGET } from "../../budgets/signNested.ts";
import { DAY, ethers, FAILURE, FUNDS, freshHash, type Marketplace, marketplace, time, usd } from "../fixture.ts";
import { ID, signed, signedFor } from "./signBudget.ts";

// Settles one row of the payer under a budget, and says why it failed; none if it did not.
async function draw(
  market: Marketplace,
  amount: bigint,
  budget?: RowBudget,
  { tool = market.tool, payer = market.payer as { address: string } } = {},
): Promise<bigint> {
  const { router, settle } = market;
  const batchId = freshHash();
  await settle([{ payer, lines: [[tool, amount]], ...(budget && { budget }) }], { batchId });
  const [failure] = await router.queryFilter(router.filters.ChargeFailed(batchId));
  return failure?.args.reason ?? 0n;
}

const NONE = 0n;

describe("a budget", () => {
  it("is what its payer signs as typed data", async () => {
    const market = await marketplace();
    const { router, payer, tool } = market;
    const validUntil = 2_000_000_000n;
    const domain = {
      name: "ContextRouter",
      version: "1",
      chainId: (await ethers.provider.getNetwork()).chainId,
      verifyingContract: await router.getAddress(),
    };
    const message = { payer: payer.address, id: ID, maxSpend: usd("5"), validUntil, tools: [tool] };
    expect(await router.budgetDigest(payer, ID, usd("5"), validUntil, [tool])).to.equal(
      ethers.TypedDataEncoder.hash(domain, BUDGET, message),
    );
  });

  it("is brought by the first row that draws on it, and drawn on by later ones until it is used up", async () => {
    const market = await marketplace();
    expect(await draw(market, usd("3"), await signed(market, { maxSpend: usd("5") }))).to.equal(NONE);
    expect(await draw(market, usd("2"), { id: ID })).to.equal(NONE);
    expect(await draw(market, 1n, { id: ID })).to.equal(FAILURE.budgetExceeded);
    expect(await market.usdc.balanceOf(market.payer)).to.equal(FUNDS - usd("5"));
    const { budget } = await market.router.budgetOf(market.payer, ID);
    expect([budget.maxSpend, budget.spent]).to.deep.equal([usd("5"), usd("5")]);
  });

  it("is raised by a higher signature under the same id, and by no lower one", async () => {
    const market = await marketplace();
    const low = await signed(market, { maxSpend: usd("1") });
    expect(await draw(market, usd("1"), low)).to.equal(NONE);
    expect(await draw(market, usd("1"), await signed(market, { maxSpend: usd("2") }))).to.equal(NONE);
    expect(await draw(market, 1n, low)).to.equal(FAILURE.budgetExceeded);
  });

  it("is nobody's but the payer's, and good on one chain and one router alone", async () => {
    const market = await marketplace();
    const { stranger, staking } = market;
    for (const elsewhere of [{ chainId: 1n }, { router: await staking.getAddress() }, { by: stranger }]) {
      const forged = await signed(market, { maxSpend: usd("5"), ...elsewhere });
      expect(await draw(market, usd("1"), forged)).to.equal(FAILURE.budgetForged);
    }
    expect(await market.usdc.balanceOf(market.payer)).to.equal(FUNDS);
  });

  it("runs out", async () => {
    const market = await marketplace();
    expect(await draw(market, 1n, await signed(market, { maxSpend: usd("5") }))).to.equal(NONE);
    await time.increase(DAY);
    expect(await draw(market, 1n, { id: ID })).to.equal(FAILURE.budgetExpired);
  });

  it("for some tools is for no other, and needs its list with every row", async () => {
    const market = await marketplace();
    const other = await market.listTool({ owner: market.rival });
    const budget = await signed(market, { maxSpend: usd("5"), tools: [market.tool] });
    expect(await draw(market, 1n, budget)).to.equal(NONE);
    expect(await draw(market, 1n, { id: ID, tools: [market.tool as ToolId] })).to.equal(NONE);
    expect(await draw(market, 1n, { id: ID })).to.equal(FAILURE.budgetTools);
    expect(await draw(market, 1n, { id: ID, tools: [market.tool as ToolId] }, { tool: other })).to.equal(
      FAILURE.budgetTools,
    );
    expect(await draw(market, 1n, { id: ID, tools: [other as ToolId] }, { tool: other })).to.equal(FAILURE.budgetTools);
  });

  it("that was ended can be drawn on for the grace, whatever is signed under its id", async () => {
    const market = await marketplace();
    const { router, payer } = market;
    const validUntil = BigInt(await time.latest()) + BigInt(30 * DAY);
    expect(await draw(market, 1n, await signed(market, { maxSpend: usd("1"), validUntil }))).to.equal(NONE);
    await expect(router.connect(payer).endBudget(ID)).to.emit(router, "BudgetEnded");
    expect(await draw(market, 1n, await signed(market, { maxSpend: usd("2"), validUntil }))).to.equal(NONE);
    await time.increase(DAY);
    expect(await draw(market, 1n, await signed(market, { maxSpend: usd("3"), validUntil }))).to.equal(
      FAILURE.budgetExpired,
    );
    await expect(router.connect(payer).endBudget(ID)).to.be.revertedWithCustomError(router, "BudgetAlreadyEnded");
  });

  it("stays signed when a higher limit for less time, or for other tools, is brought under its id", async () => {
    for (const narrower of ["time", "tools"]) {
      const market = await marketplace();
      const { router, payer, stranger } = market;
      const other = await market.listTool({ owner: market.rival });
      const validUntil = BigInt(await time.latest()) + BigInt(DAY);
      const agreed = { maxSpend: usd("5"), validUntil };
      const first = await signed(market, agreed);
      const soon = BigInt(await time.latest()) + 60n;
      const terms = narrower === "time" ? { validUntil: soon } : { validUntil, tools: [other] };
      const taking = await signed(market, { maxSpend: usd("6"), ...terms });
      // Whoever settles can be another service, which has never seen the first one.
      expect(await draw(market, usd("1"), taking, { tool: other })).to.equal(NONE);
      await time.increase(61);
      expect(await draw(market, usd("1"), { id: ID })).to.not.equal(NONE);

      // It is prepaid as well, so that nothing of it can be taken back between call and settlement.
      await router.connect(payer).deposit(usd("10"));
      await router.connect(payer).setConsentRequired(true);
      await market.settle([{ payer, prepaid: true, budget: first, lines: [[market.tool, usd("4")]] }]);
      expect((await router.prepaidOf(payer)).balance).to.equal(usd("6"));
      // What was spent under either counts for both, and nobody else's signature does.
      expect(await draw(market, 1n, first)).to.equal(FAILURE.budgetExceeded);
      const forged = await signed(market, { ...agreed, maxSpend: usd("5.5"), by: stranger });
      expect(await draw(market, 1n, forged)).to.equal(FAILURE.budgetForged);
      const { budget } = await router.budgetOf(payer, ID);
      expect([budget.maxSpend, budget.spent]).to.deep.equal([usd("6"), usd("5")]);

      // Ending it ends whatever was signed.
      const more = await signed(market, { maxSpend: usd("5.5"), validUntil: validUntil + BigInt(7 * DAY) });
      await router.connect(payer).endBudget(ID);
      expect(await draw(market, 1n, more)).to.equal(NONE);
      await time.increase(DAY + 1);
      expect(await draw(market, 1n, more)).to.equal(FAILURE.budgetExpired);
    }
  });

  // So that it is always within what a transaction may have, 16.7 million.
  it("costs a bounded amount of gas for as many tools as a row can name, in whatever order they are", async () => {
    const tools = Array.from({ length: 255 }, () => ethers.hexlify(ethers.randomBytes(16)));
    const lines = tools.map((tool): [string, bigint] => [tool, 1n]);
    const used = async (terms: { tools?: string[] }) => {
      const market = await marketplace();
      const budget = await signed(market, { maxSpend: usd("5"), ...terms });
      const sent = await market.settle([{ payer: market.payer, modelCost: 1n, lines, budget }]);
      expect(await market.router.queryFilter(market.router.filters.ChargeFailed())).to.have.length(0);
      return (await sent.wait())?.gasUsed ?? 0n;
    };
    const forAll = await used({});
    expect(await used({ tools: tools.toReversed() })).to.be.lessThan(forAll + 4_000_000n);
    expect(await used({ tools })).to.be.lessThan(forAll + 4_000_000n);
  });

  it("for some tools pays the model, too, which is none", async () => {
    const market = await marketplace();
    const { router, payer, settle, tool } = market;
    const budget = await signed(market, { maxSpend: usd("5"), tools: [tool] });
    await settle([{ payer, budget, modelCost: usd("2"), lines: [[tool, usd("1")]] }]);
    expect((await router.budgetOf(payer, ID)).budget.spent).to.equal(usd("3"));
  });

  it("gets back what a row drew whose money could not be had", async () => {
    const market = await marketplace();
    const { router, usdc, payer } = market;
    const budget = await signed(market, { maxSpend: usd("5") });
    await usdc.connect(payer).approve(router, 0n);
    expect(await draw(market, usd("5"), budget)).to.equal(FAILURE.allowance);
    await usdc.connect(payer).approve(router, FUNDS);
    expect(await draw(market, usd("5"), { id: ID })).to.equal(NONE);
  });
});

describe("a budget that is no good", () => {
  it("fails its row with its own reason, and leaves the rest of the batch alone", async () => {
    const market = await marketplace();
    const { router, usdc, settle, payer, neighbour, stranger, developer, tool } = market;
    const other = await market.listTool({ owner: market.rival });
    await market.fund(neighbour, usd("100"));
    const latest = BigInt(await time.latest());
    const bad: [bigint, RowBudget][] = [
      [FAILURE.budgetForged, await signed(market, { maxSpend: usd("5"), by: stranger })],
      [FAILURE.budgetForged, await signed(market, { maxSpend: usd("5"), chainId: 8453n })],
      [FAILURE.budgetForged, await signed(market, { maxSpend: usd("5"), router: await usdc.getAddress() })],
      [FAILURE.budgetForged, await signed(market, { maxSpend: usd("5"), payer: neighbour })],
      [FAILURE.budgetExpired, await signed(market, { maxSpend: usd("5"), validUntil: latest })],
      [FAILURE.budgetTools, await signed(market, { maxSpend: usd("6"), tools: [other] })],
      [FAILURE.budgetExceeded, await signed(market, { maxSpend: usd("0.5") })],
      [FAILURE.budgetExceeded, { id: 99n }],
    ];
    for (const [reason, budget] of bad) {
      const batchId = freshHash();
      const snapshot = await ethers.provider.send("evm_snapshot", []);
      const before = await usdc.balanceOf(payer);
      await expect(
        settle(
          [
            { payer, lines: [[tool, usd("1")]], budget },
            { payer: neighbour, lines: [[tool, usd("2")]] },
          ],
          { batchId },
        ),
      )
        .to.emit(router, "ChargeFailed")
        .withArgs(batchId, payer, 0, usd("1"), reason);
      expect(await usdc.balanceOf(payer)).to.equal(before);
      expect(await router.creditOf(developer)).to.equal(usd("1.8"));
      await ethers.provider.send("evm_revert", [snapshot]);
    }
  });

  it("cannot be brought twice to be spent twice", async () => {
    const market = await marketplace();
    const budget = await signed(market, { maxSpend: usd("1") });
    expect(await draw(market, usd("1"), budget)).to.equal(NONE);
    expect(await draw(market, usd("1"), budget)).to.equal(FAILURE.budgetExceeded);
  });
});

describe("a budget of a smart account", () => {
  async function withAccount() {
    const market = await marketplace();
    const account = await ethers.deployContract("SmartAccount", [market.payer]);
    const address = await account.getAddress();
    await market.usdc.mint(address, FUNDS);
    // What the account's owner has it do, in one batch of calls (ERC-7821).
    const execute = async (target: string, data: string) => {
      const calls = ethers.AbiCoder.defaultAbiCoder().encode(
        ["tuple(address target, uint256 value, bytes data)[]"],
        [[{ target, value: 0n, data }]],
      );
      await account.connect(market.payer).getFunction("execute")(
        ethers.concat(["0x01", ethers.zeroPadBytes("0x", 31)]),
        calls,
      );
    };
    const router = await market.router.getAddress();
    await execute(await market.usdc.getAddress(), market.usdc.interface.encodeFunctionData("approve", [router, FUNDS]));
    return { market, account: { address }, execute };
  }

  it("is signed by the account's key for the account (ERC-1271), which can demand it", async () => {
    const { market, account, execute } = await withAccount();
    const { router } = market;
    const demand = router.interface.encodeFunctionData("setConsentRequired", [true]);
    await execute(await router.getAddress(), demand);
    const budget = await signedFor(account, market, { maxSpend: usd("3") });
    expect(await draw(market, usd("1"), undefined, { payer: account })).to.equal(FAILURE.consentRequired);
    expect(await draw(market, usd("2"), budget, { payer: account })).to.equal(NONE);
    expect(await draw(market, usd("2"), { id: ID }, { payer: account })).to.equal(FAILURE.budgetExceeded);
    expect(await market.usdc.balanceOf(account.address)).to.equal(FUNDS - usd("2"));
  });

  it("is forged if another key signed it, or its own for another account, chain or router", async () => {
    const { market, account } = await withAccount();
    const { stranger, usdc } = market;
    const forged = [
      await signedFor(account, market, { maxSpend: usd("3"), by: stranger }),
      await signedFor(account, market, { maxSpend: usd("3"), chainId: 8453n }),
      await signedFor(account, market, { maxSpend: usd("3"), router: await usdc.getAddress() }),
      await signedFor(await ethers.deployContract("SmartAccount", [market.payer]).then(addressOf), market, {
        maxSpend: usd("3"),
      }),
      // What the key signs for itself is not the account's word.
      await signed(market, { maxSpend: usd("3"), payer: account }),
    ];
    for (const budget of forged) {
      expect(await draw(market, usd("1"), budget, { payer: account })).to.equal(FAILURE.budgetForged);
    }
    expect(await usdc.balanceOf(account.address)).to.equal(FUNDS);
  });

  it("is judged with the gas that it needs, or the batch is undone", async () => {
    const { market, account } = await withAccount();
    const { router, settle, tool } = market;
    const budget = await signedFor(account, market, { maxSpend: usd("3") });
    const rows = [{ payer: account, lines: [[tool, usd("1")]] as const, budget }];
    await expect(settle(rows, { gasLimit: 180_000n })).to.be.revertedWithCustomError(router, "SignatureStarved");
    await expect(settle(rows)).not.to.emit(router, "ChargeFailed");
  });

  it("fails its row alone if the account eats all gas, answers nothing or answers too much", async () => {
    const market = await marketplace();
    const { router, settle, neighbour, tool } = market;
    await market.fund(neighbour, usd("10"));
    // INVALID; STOP; a return of a million bytes, the first of which say yes.
    for (const code of ["0xfe", "0x00", "0x631626ba7e60e01b600052620f42405ff3"]) {
      const payer = { address: ethers.Wallet.createRandom().address };
      await ethers.provider.send("hardhat_setCode", [payer.address, code]);
      const budget = await signed(market, { maxSpend: usd("3"), payer });
      const batchId = freshHash();
      await settle(
        [
          { payer, lines: [[tool, 1n]], budget },
          { payer: neighbour, lines: [[tool, usd("1")]] },
        ],
        { batchId },
      );
      const [failure, ...others] = await router.queryFilter(router.filters.ChargeFailed(batchId));
      expect([failure?.args.payer, failure?.args.reason]).to.deep.equal([payer.address, FAILURE.budgetForged]);
      expect(others).to.deep.equal([]);
    }
  });

  it("of an account whose key has code of its own (ERC-7702) is what the key signs", async () => {
    const market = await marketplace();
    const { router, usdc, stranger } = market;
    const payer = market.neighbour;
    await usdc.mint(payer, FUNDS);
    await usdc.connect(payer).approve(router, FUNDS);
    const code = await ethers.deployContract("SmartAccount", [stranger]);
    // The designation that the payer's authorization leaves behind; the simulated chain takes no transaction of type 4.
    const designation = ethers.concat(["0xef0100", await code.getAddress()]);
    await ethers.provider.send("hardhat_setCode", [payer.address, designation]);
    expect(await ethers.provider.getCode(payer.address)).to.match(/^0xef0100/);

    // The code behind it runs, and knows another owner.
    const asAccount = await ethers.getContractAt("SmartAccount", payer.address);
    expect((await asAccount.getFunction("eip712Domain")()).verifyingContract).to.equal(payer.address);
    const byKey = await signed(market, { maxSpend: usd("2"), payer, by: payer });
    const byStranger = await signed(market, { maxSpend: usd("9"), payer, by: stranger });
    expect(await draw(market, usd("1"), byStranger, { payer })).to.equal(FAILURE.budgetForged);
    expect(await draw(market, usd("1"), byKey, { payer })).to.equal(NONE);
    expect(await usdc.balanceOf(payer)).to.equal(FUNDS - usd("1"));
  });
});

describe("a payer who demands consent", () => {
  it("is charged under a budget and in no other way, at once and until the payer says otherwise", async () => {
    const market = await marketplace();
    const { router, payer } = market;
    await expect(router.connect(payer).setConsentRequired(true))
      .to.emit(router, "ConsentRequiredSet")
      .withArgs(payer, true);
    expect((await router.spendable(payer)).consentRequired).to.equal(true);
    expect(await draw(market, 1n)).to.equal(FAILURE.consentRequired);
    expect(await draw(market, 1n, await signed(market, { maxSpend: 1n }))).to.equal(NONE);
    await router.connect(payer).setConsentRequired(false);
    expect(await router.consentRequired(payer)).to.equal(false);
    expect(await draw(market, 1n)).to.equal(NONE);
  });
});

async function addressOf(contract: { getAddress(): Promise<string> }): Promise<{ address: string }> {
  return { address: await contract.getAddress() };
}
