import { expect } from "chai";
import { toBeHex, ZeroHash } from "ethers";
import {
  DAY,
  FAILURE,
  FUNDS,
  freshHash,
  HOUR,
  marketplace,
  nextPeriod,
  OPERATOR_LIMIT,
  PARAMETERS,
  packBatch,
  REFUSAL,
  refusedLines,
  STAKE,
  slashTerms,
  time,
  usd,
} from "../fixture.ts";

describe("ContextRouter.settle", () => {
  describe("who may settle, and what", () => {
    it("refuses whoever is no operator", async () => {
      const { router, settle, stranger, payer, tool } = await marketplace();
      await expect(settle([{ payer, lines: [[tool, 1n]] }], { by: stranger }))
        .to.be.revertedWithCustomError(router, "NotOperator")
        .withArgs(stranger);
    });

    it("refuses every operator while the router is paused", async () => {
      const { router, settle, guardian, payer, tool } = await marketplace();
      await router.connect(guardian).pause();
      await expect(settle([{ payer, lines: [[tool, 1n]] }])).to.be.revertedWithCustomError(router, "EnforcedPause");
    });

    it("refuses a batch without a receipts root", async () => {
      const { router, settle, payer, tool } = await marketplace();
      await expect(settle([{ payer, lines: [[tool, 1n]] }], { batchId: ZeroHash })).to.be.revertedWithCustomError(
        router,
        "EmptyBatch",
      );
    });

    it("refuses a batch without rows", async () => {
      const { router, settle } = await marketplace();
      await expect(settle([])).to.be.revertedWithCustomError(router, "EmptyBatch");
    });

    it("refuses a batch that charges nothing and reports nothing, so that it burns no root", async () => {
      const { router, settle, payer, tool } = await marketplace();
      const batchId = freshHash();
      await expect(settle([{ payer, lines: [[tool, 0n]] }], { batchId })).to.be.revertedWithCustomError(
        router,
        "EmptyBatch",
      );
      expect(await router.settledAt(batchId)).to.equal(0n);
    });

    it("refuses a receipts root that was settled before, and says when", async () => {
      const { router, settle, payer, tool } = await marketplace();
      const batchId = freshHash();
      const settledAt = (await time.latest()) + HOUR;
      await time.setNextBlockTimestamp(settledAt);
      await settle([{ payer, lines: [[tool, 1n]] }], { batchId });
      expect(await router.settledAt(batchId)).to.equal(settledAt);
      await expect(settle([{ payer, lines: [[tool, 2n]] }], { batchId }))
        .to.be.revertedWithCustomError(router, "BatchAlreadySettled")
        .withArgs(batchId, settledAt);
    });
  });

  describe("rows that are not whole", () => {
    it("refuses rows that end in the middle of a row's head", async () => {
      const { router, operator, payer } = await marketplace();
      const { rows } = packBatch([{ payer, modelCost: 1n }]);
      await expect(router.connect(operator).settle(ZeroHash, freshHash(), [], rows.slice(0, -2)))
        .to.be.revertedWithCustomError(router, "RowsTruncated")
        .withArgs(28, 27);
    });

    it("refuses rows that end in the middle of a line", async () => {
      const { router, operator, payer, tool } = await marketplace();
      const { toolIds, rows } = packBatch([
        { payer: { address: `0x${"1".padStart(40, "0")}` }, modelCost: 1n },
        {
          payer,
          lines: [
            [tool, 1n],
            [tool, 2n],
          ],
        },
      ]);
      await expect(router.connect(operator).settle(ZeroHash, freshHash(), toolIds, rows.slice(0, -2)))
        .to.be.revertedWithCustomError(router, "RowsTruncated")
        .withArgs(70, 69);
    });

    it("refuses bytes after the last row", async () => {
      const { router, operator, payer } = await marketplace();
      const { rows } = packBatch([{ payer, modelCost: 1n }]);
      await expect(router.connect(operator).settle(ZeroHash, freshHash(), [], `${rows}00`))
        .to.be.revertedWithCustomError(router, "RowsTruncated")
        .withArgs(56, 29);
    });

    it("refuses a line to a tool that the batch does not name", async () => {
      const { router, operator, payer, tool } = await marketplace();
      const { rows } = packBatch([{ payer, lines: [[tool, 1n]] }]);
      await expect(router.connect(operator).settle(ZeroHash, freshHash(), [], rows))
        .to.be.revertedWithCustomError(router, "ToolIndexOutOfRange")
        .withArgs(0, 0);
    });

    it("refuses more tools than a line can name", async () => {
      const { router, operator, payer, tool } = await marketplace();
      const { rows } = packBatch([{ payer, lines: [[tool, 1n]] }]);
      const toolIds = [tool, ...Array.from({ length: 256 }, (_, i) => toBeHex(i, 16))];
      await expect(router.connect(operator).settle(ZeroHash, freshHash(), toolIds, rows))
        .to.be.revertedWithCustomError(router, "TooManyTools")
        .withArgs(257, 256);
      await expect(router.connect(operator).settle(ZeroHash, freshHash(), toolIds.slice(0, 256), rows)).to.emit(
        router,
        "BatchSettled",
      );
    });
  });

  describe("a batch that can be paid", () => {
    it("takes each payer's total in one transfer", async () => {
      const { router, usdc, settle, fund, listTool, rival, payer, neighbour, tool } = await marketplace();
      const other = await listTool({ owner: rival });
      await fund(neighbour, FUNDS);
      const settlement = settle([
        {
          payer,
          modelCost: usd("0.03"),
          lines: [
            [tool, usd("2")],
            [other, usd("1")],
          ],
        },
        { payer: neighbour, lines: [[other, usd("5")]] },
      ]);
      await expect(settlement).to.emit(usdc, "Transfer").withArgs(payer, router, usd("3.03"));
      await expect(settlement).to.emit(usdc, "Transfer").withArgs(neighbour, router, usd("5"));
      expect(await usdc.balanceOf(router)).to.equal(usd("8.03"));
    });

    it("credits nine tenths of each tool's sum to its payee, the rest and all model cost to the treasury", async () => {
      const { router, settle, fund, listTool, operator, developer, rival, treasury, payer, neighbour, tool } =
        await marketplace();
      const other = await listTool({ owner: rival });
      await fund(neighbour, FUNDS);
      const batchId = freshHash();
      const settlement = settle(
        [
          {
            payer,
            modelCost: usd("0.03"),
            lines: [
              [tool, usd("2")],
              [other, usd("1")],
            ],
          },
          { payer: neighbour, modelCost: usd("0.02"), lines: [[other, usd("5")]] },
        ],
        { batchId },
      );
      await expect(settlement).to.emit(router, "ToolPaid").withArgs(batchId, tool, developer, usd("2"), usd("1.8"));
      await expect(settlement).to.emit(router, "ToolPaid").withArgs(batchId, other, rival, usd("6"), usd("5.4"));
      await expect(settlement)
        .to.emit(router, "BatchSettled")
        .withArgs(batchId, ZeroHash, operator, usd("8.05"), usd("0.85"));
      expect(await router.creditOf(developer)).to.equal(usd("1.8"));
      expect(await router.creditOf(rival)).to.equal(usd("5.4"));
      expect(await router.creditOf(treasury)).to.equal(usd("0.85"));
    });

    it("splits a tool's sum and not its lines, so that rounding happens once", async () => {
      const { router, settle, developer, treasury, payer, tool } = await marketplace();
      await settle([
        {
          payer,
          lines: [
            [tool, 7n],
            [tool, 8n],
            [tool, 9n],
          ],
        },
      ]);
      expect(await router.creditOf(developer)).to.equal(22n);
      expect(await router.creditOf(treasury)).to.equal(2n);
    });

    it("adds to the credits of earlier batches", async () => {
      const { router, settle, developer, payer, tool } = await marketplace();
      await settle([{ payer, lines: [[tool, 10n]] }]);
      await settle([{ payer, lines: [[tool, 100n]] }]);
      expect(await router.creditOf(developer)).to.equal(99n);
    });

    it("credits the payout address of the listing, not its owner", async () => {
      const { router, settle, listTool, developer, stranger, payer } = await marketplace();
      const tool = await listTool({ payout: stranger });
      await settle([{ payer, lines: [[tool, 10n]] }]);
      expect(await router.creditOf(stranger)).to.equal(9n);
      expect(await router.creditOf(developer)).to.equal(0n);
    });

    it("settles a row of model cost alone", async () => {
      const { router, settle, treasury, payer } = await marketplace();
      const settlement = settle([{ payer, modelCost: usd("0.5") }]);
      await expect(settlement).not.to.emit(router, "ToolPaid");
      expect(await router.creditOf(treasury)).to.equal(usd("0.5"));
    });

    it("neither charges nor pays for a row of zero, whoever its payer is", async () => {
      const { router, settle, operator, payer, tool } = await marketplace();
      const batchId = freshHash();
      const nothing = { payer: { address: `0x${"1".padStart(40, "0")}` }, lines: [[tool, 0n]] as const };
      const settlement = settle([nothing, { payer, modelCost: 1n }], { batchId });
      await expect(settlement).to.emit(router, "BatchSettled").withArgs(batchId, ZeroHash, operator, 1, 1);
      await expect(settlement).not.to.emit(router, "ChargeFailed");
      await expect(settlement).not.to.emit(router, "ToolPaid");
    });

    it("charges a payer once, and takes no second row of it", async () => {
      const { router, usdc, settle, payer, tool } = await marketplace();
      const row = { payer, lines: [[tool, 10n]] as const };
      await expect(settle([row, row])).to.be.revertedWithCustomError(router, "RowsOutOfOrder");
      await settle([row]);
      expect(await usdc.balanceOf(payer)).to.equal(FUNDS - 10n);
    });

    it("says what it charged to whoever simulates it", async () => {
      const { router, operator, payer, tool } = await marketplace();
      const { toolIds, rows } = packBatch([{ payer, modelCost: 1n, lines: [[tool, 10n]] }]);
      expect(await router.connect(operator).settle.staticCall(ZeroHash, freshHash(), toolIds, rows)).to.equal(11n);
    });
  });

  describe("a row that cannot be paid", () => {
    const spoilers = {
      allowance: async ({ usdc, router, payer }) => usdc.connect(payer).approve(router, usd("1")),
      balance: async ({ usdc, payer, stranger }) => usdc.connect(payer).transfer(stranger, FUNDS - usd("1")),
      blacklisted: async ({ usdc, payer }) => usdc.blacklist(payer),
      dailyCap: async ({ router, payer }) => router.connect(payer).setDailyCap(usd("1")),
    } satisfies Partial<
      Record<keyof typeof FAILURE, (market: Awaited<ReturnType<typeof marketplace>>) => Promise<unknown>>
    >;

    for (const reason of Object.keys(spoilers) as (keyof typeof spoilers)[]) {
      it(`is reported with the reason ${reason}, and the rest is settled without it`, async () => {
        const market = await marketplace();
        const { router, usdc, settle, fund, listTool, operator, developer, rival, payer, neighbour, tool } = market;
        const other = await listTool({ owner: rival });
        await fund(neighbour, usd("5"));
        await spoilers[reason](market);
        const balance = await usdc.balanceOf(payer);
        const batchId = freshHash();
        const settlement = settle(
          [
            {
              payer,
              modelCost: usd("1"),
              lines: [
                [tool, usd("2")],
                [other, usd("3")],
              ],
            },
            { payer: neighbour, modelCost: usd("1"), lines: [[tool, usd("4")]] },
          ],
          { batchId },
        );
        await expect(settlement).to.emit(router, "ChargeFailed").withArgs(batchId, payer, 0, usd("6"), FAILURE[reason]);
        await expect(settlement).to.emit(router, "ToolPaid").withArgs(batchId, tool, developer, usd("4"), usd("3.6"));
        await expect(settlement)
          .to.emit(router, "BatchSettled")
          .withArgs(batchId, ZeroHash, operator, usd("5"), usd("1.4"));
        expect(await usdc.balanceOf(payer)).to.equal(balance);
        expect(await router.creditOf(rival)).to.equal(0n);
      });
    }

    it("is blamed on the allowance before the balance when both are short", async () => {
      const { router, settle, stranger, tool } = await marketplace();
      const batchId = freshHash();
      await expect(settle([{ payer: stranger, lines: [[tool, 1n]] }], { batchId }))
        .to.emit(router, "ChargeFailed")
        .withArgs(batchId, stranger, 0, 1n, FAILURE.allowance);
    });

    it("is settled for whatever the batch before it left of the allowance", async () => {
      const { router, usdc, settle, payer, tool } = await marketplace();
      const batchId = freshHash();
      await settle([{ payer, modelCost: FUNDS - 1n }]);
      const settlement = settle([{ payer, lines: [[tool, 2n]] }], { batchId });
      await expect(settlement).to.emit(router, "ChargeFailed").withArgs(batchId, payer, 0, 2n, FAILURE.allowance);
      await settle([{ payer, lines: [[tool, 1n]] }]);
      expect(await usdc.balanceOf(payer)).to.equal(0n);
    });

    it("undoes the batch when the token gives no reason that can be verified", async () => {
      const { router, usdc, settle, payer, tool } = await marketplace();
      // The token refuses to let a balance grow past 2^255 - 1, which is none of the payer's doing.
      await usdc.mint(router, 2n ** 255n - 1n);
      const batchId = freshHash();
      await expect(settle([{ payer, lines: [[tool, 5n]] }], { batchId }))
        .to.be.revertedWithCustomError(router, "ChargeUnexplained")
        .withArgs(payer, 5n);
      expect(await router.settledAt(batchId)).to.equal(0n);
    });
  });

  describe("a line whose tool may not be paid", () => {
    it("is left out of its row when the tool is not listed", async () => {
      const { router, usdc, settle, staking, stranger, developer, payer, tool } = await marketplace();
      const unlisted = await staking.toolIdOf(stranger, freshHash());
      const batchId = freshHash();
      const settlement = settle(
        [
          {
            payer,
            modelCost: 3n,
            lines: [
              [tool, 10n],
              [unlisted, 20n],
            ],
          },
        ],
        { batchId },
      );
      await expect(settlement)
        .to.emit(router, "LinesRefused")
        .withArgs(batchId, payer, 0, refusedLines([unlisted, 20n]));
      await expect(settlement).to.emit(router, "ToolRefused").withArgs(batchId, unlisted, REFUSAL.unlisted);
      expect(await usdc.balanceOf(payer)).to.equal(FUNDS - 13n);
      expect(await router.creditOf(developer)).to.equal(9n);
    });

    it("is left out of its row when the stake was asked back", async () => {
      const { router, usdc, settle, staking, developer, payer, tool } = await marketplace();
      await staking.connect(developer).requestWithdrawal(tool, 1n);
      const batchId = freshHash();
      await expect(settle([{ payer, lines: [[tool, 20n]] }], { batchId }))
        .to.emit(router, "ToolRefused")
        .withArgs(batchId, tool, REFUSAL.underStaked);
      expect(await usdc.balanceOf(payer)).to.equal(FUNDS);
    });

    it("is left out of its row when the stake was slashed", async () => {
      const { router, settle, staking, adjudicator, payer, tool } = await marketplace();
      const terms = slashTerms({ amount: 1n });
      await staking.connect(adjudicator).proposeSlash(tool, terms);
      await time.increase(3 * DAY);
      await staking.connect(adjudicator).executeSlash(tool, terms);
      await expect(settle([{ payer, lines: [[tool, 20n]] }])).to.emit(router, "LinesRefused");
    });

    it("is left out of its row when the admin has raised what a stake must be", async () => {
      const { router, settle, staking, asAdmin, payer, tool } = await marketplace();
      const parameters = { ...PARAMETERS, minimumStake: STAKE + 1n };
      await asAdmin(staking.setParameters.populateTransaction(parameters));
      await expect(settle([{ payer, lines: [[tool, 20n]] }])).to.emit(router, "LinesRefused");
    });

    it("goes unnoticed when it is worth nothing", async () => {
      const { router, settle, staking, stranger, payer } = await marketplace();
      const unlisted = await staking.toolIdOf(stranger, freshHash());
      await expect(settle([{ payer, modelCost: 1n, lines: [[unlisted, 0n]] }])).not.to.emit(router, "LinesRefused");
    });

    it("stays left out when the rest of its row then fails", async () => {
      const { router, settle, staking, stranger, developer, payer, tool } = await marketplace();
      const unlisted = await staking.toolIdOf(stranger, freshHash());
      const batchId = freshHash();
      const settlement = settle(
        [
          {
            payer: stranger,
            lines: [
              [unlisted, 20n],
              [tool, 10n],
            ],
          },
          { payer, lines: [[tool, 30n]] },
        ],
        { batchId },
      );
      await expect(settlement)
        .to.emit(router, "LinesRefused")
        .withArgs(batchId, stranger, 0, refusedLines([unlisted, 20n]));
      await expect(settlement).to.emit(router, "ChargeFailed").withArgs(batchId, stranger, 0, 10n, FAILURE.allowance);
      expect(await router.creditOf(developer)).to.equal(27n);
    });
  });

  describe("the operator's limit", () => {
    it("undoes a batch that charges more than what is left, and says how much that is", async () => {
      const { router, settle, fund, payer, tool } = await marketplace();
      await fund(payer, 2n * OPERATOR_LIMIT);
      await settle([{ payer, modelCost: OPERATOR_LIMIT - 5n }]);
      await expect(settle([{ payer, lines: [[tool, 6n]] }]))
        .to.be.revertedWithCustomError(router, "OperatorLimitExceeded")
        .withArgs(6n, 5n);
      await settle([{ payer, lines: [[tool, 5n]] }]);
    });

    it("does not count what was not charged", async () => {
      const { router, settle, operator, stranger, payer, tool } = await marketplace();
      await settle([
        { payer: stranger, modelCost: OPERATOR_LIMIT },
        { payer, lines: [[tool, 5n]] },
      ]);
      expect((await router.operatorLimit(operator)).left).to.equal(OPERATOR_LIMIT - 5n);
    });

    it("comes back four periods of eight hours later, when no 24 hours can see both", async () => {
      const { router, settle, fund, operator, payer } = await marketplace();
      await fund(payer, 2n * OPERATOR_LIMIT);
      const start = await nextPeriod();
      await settle([{ payer, modelCost: OPERATOR_LIMIT }]);
      await time.increaseTo(start + 32 * HOUR - 1);
      expect((await router.operatorLimit(operator)).left).to.equal(0n);
      await time.increaseTo(start + 32 * HOUR);
      expect((await router.operatorLimit(operator)).left).to.equal(OPERATOR_LIMIT);
      await settle([{ payer, modelCost: OPERATOR_LIMIT }]);
    });
  });

  describe("a payer's daily cap", () => {
    it("is used up by what is charged, and by nothing else", async () => {
      const { router, settle, payer, tool } = await marketplace();
      await router.connect(payer).setDailyCap(usd("10"));
      await settle([{ payer, lines: [[tool, usd("7")]] }]);
      await settle([{ payer, lines: [[tool, usd("4")]] }]);
      await settle([{ payer, modelCost: usd("2") }]);
      expect(await router.dailyCap(payer)).to.deep.equal([usd("10"), usd("1")]);
    });

    it("comes back period by period", async () => {
      const { router, settle, payer, tool } = await marketplace();
      await router.connect(payer).setDailyCap(usd("10"));
      const start = await nextPeriod();
      await settle([{ payer, lines: [[tool, usd("1")]] }]);
      await time.increaseTo(start + 8 * HOUR);
      await settle([{ payer, lines: [[tool, usd("2")]] }]);
      await time.increaseTo(start + 24 * HOUR);
      await settle([{ payer, lines: [[tool, usd("3")]] }]);
      const left = async (hours: number) => {
        await time.increaseTo(start + hours * HOUR);
        return (await router.dailyCap(payer)).left;
      };
      expect(await left(31)).to.equal(usd("4"));
      expect(await left(32)).to.equal(usd("5"));
      expect(await left(40)).to.equal(usd("7"));
      expect(await left(55)).to.equal(usd("7"));
      expect(await left(56)).to.equal(usd("10"));
    });
  });
});
