import { expect } from "chai";
import { ZeroHash } from "ethers";
import fc from "fast-check";
import { splitRevenue } from "../../settlement/domain/split.ts";
import {
  type Charge,
  FUNDS,
  freshHash,
  HOUR,
  marketplace,
  networkHelpers,
  OPERATOR_LIMIT,
  PARAMETERS,
  refusedLines,
  time,
  usd,
} from "./fixture.ts";

// The same runs every time: a failure can be looked at again.
const SEED = 20_240_607;
const MAX_AMOUNT = 2n ** 48n - 1n;

// A tool's earnings of 24 hours have 40 bits.
const MAX_EARNINGS = 2n ** 40n - 1n;

const amountsBetween = (least: bigint, most: bigint) =>
  fc.oneof(fc.bigInt(least, 30n), fc.bigInt(least, usd("10")), fc.bigInt(least, most));
const anyAmount = amountsBetween(0n, MAX_AMOUNT);
// A payment of nothing is refused.
const anyPayment = amountsBetween(1n, MAX_EARNINGS);

describe("the service and the contracts", () => {
  describe("split alike", () => {
    it("what the router credits for an amount is what splitRevenue says", async () => {
      const { router, fund, listTool, asAdmin, staking, developer, treasury, payer } = await marketplace();
      await fund(payer, 2n ** 60n);
      const parameters = { ...PARAMETERS, earningMultiple: 1000 };
      await asAdmin(staking.setParameters.populateTransaction(parameters));
      // One that may earn as much as a tool ever may, with a day between its payments.
      const tool = await listTool({ stake: MAX_EARNINGS });
      const credits = async () => [await router.creditOf(developer), await router.creditOf(treasury)] as const;
      const agrees = async (amount: bigint) => {
        const [developerBefore, treasuryBefore] = await credits();
        await time.increase(32 * HOUR);
        await router.connect(payer).pay(tool, amount, 0n);
        const [developerAfter, treasuryAfter] = await credits();
        expect({
          developerShare: developerAfter - developerBefore,
          protocolShare: treasuryAfter - treasuryBefore,
        }).to.deep.equal(splitRevenue(amount));
      };
      for (let amount = 1n; amount <= 30n; amount += 1n) await agrees(amount);
      for (const amount of [MAX_EARNINGS - 1n, MAX_EARNINGS]) await agrees(amount);
      await fc.assert(fc.asyncProperty(anyPayment, agrees), { seed: SEED, numRuns: 100 });
    });

    it("no unit is lost, and the developer never gets less than nine tenths", () => {
      fc.assert(
        fc.property(anyAmount, (amount) => {
          const { developerShare, protocolShare } = splitRevenue(amount);
          return developerShare + protocolShare === amount && developerShare * 10n >= amount * 9n;
        }),
        { seed: SEED },
      );
    });

    it("a negative amount has no split", () => {
      expect(() => splitRevenue(-1n)).to.throw(RangeError, "amount is -1 micro-USDC; a charge is never negative");
    });
  });

  describe("read rows alike", () => {
    it("random batches charge and credit exactly what their rows say", async () => {
      const {
        router,
        usdc,
        settle,
        fund,
        listTool,
        operator,
        rival,
        developer,
        stranger,
        treasury,
        payer,
        neighbour,
        tool,
      } = await marketplace();
      const tools = [
        { toolId: tool, payee: developer },
        { toolId: await listTool({ owner: rival }), payee: rival },
        { toolId: await listTool({ owner: rival, payout: stranger }), payee: stranger },
      ];
      const payers = [payer, neighbour];
      await fund(neighbour, FUNDS);
      const { restore } = await networkHelpers.takeSnapshot();

      const amount = fc.bigInt(0n, usd("2"));
      const line = fc.record({ index: fc.nat(tools.length - 1), amount });
      const addressOf = ({ payer }: { payer: { address: string } }) => payer.address;
      const row = fc.record({
        payer: fc.constantFrom(...payers),
        modelCost: amount,
        lines: fc.array(line, { maxLength: 8 }),
      });

      await fc.assert(
        fc.asyncProperty(fc.uniqueArray(row, { minLength: 1, selector: addressOf }), async (rows) => {
          fc.pre(rows.some((row) => row.modelCost > 0n || row.lines.some((item) => item.amount > 0n)));
          await restore();
          const charges: Charge[] = rows.map(({ lines, ...rest }) => ({
            ...rest,
            lines: lines.map((item) => [tools[item.index]?.toolId ?? "", item.amount] as const),
          }));
          const batchId = freshHash();
          const totalOf = (row: (typeof rows)[number]) => row.modelCost + sum(row.lines.map((item) => item.amount));
          const earned = tools.map((_, index) =>
            sum(rows.flatMap(({ lines }) => lines.filter((item) => item.index === index).map((item) => item.amount))),
          );
          const modelCosts = sum(rows.map(({ modelCost }) => modelCost));
          const treasuryShare = modelCosts + sum(earned.map((each) => splitRevenue(each).protocolShare));

          await expect(settle(charges, { batchId }))
            .to.emit(router, "BatchSettled")
            .withArgs(batchId, ZeroHash, operator, sum(rows.map(totalOf)), treasuryShare);
          for (const account of payers) {
            const paid = sum(rows.filter((each) => each.payer === account).map(totalOf));
            expect(await usdc.balanceOf(account)).to.equal(FUNDS - paid);
          }
          for (const [index, { payee }] of tools.entries()) {
            expect(await router.creditOf(payee)).to.equal(splitRevenue(earned[index] ?? 0n).developerShare);
          }
          expect(await router.creditOf(treasury)).to.equal(treasuryShare);
        }),
        { seed: SEED, numRuns: 60 },
      );
    });

    it("the largest amounts that a row has room for are read whole", async () => {
      const { router, settle, fund, payer, tool } = await marketplace();
      await fund(payer, 2n * MAX_AMOUNT);
      const batchId = freshHash();
      await expect(settle([{ payer, modelCost: MAX_AMOUNT }], { batchId }))
        .to.be.revertedWithCustomError(router, "OperatorLimitExceeded")
        .withArgs(MAX_AMOUNT, OPERATOR_LIMIT);
      await expect(settle([{ payer, lines: [[tool, MAX_AMOUNT]] }], { batchId }))
        .to.emit(router, "LinesRefused")
        .withArgs(batchId, payer, 0, refusedLines([tool, MAX_AMOUNT]));
    });
  });

  describe("accept the same spending caps", () => {
    it("a batch settles against a permit that the payer signed and somebody else submitted", async () => {
      const { router, usdc, settle, signPermit, developer, neighbour: payer, stranger, tool } = await marketplace();
      await usdc.mint(payer, usd("20"));
      await usdc.connect(stranger).permit(...(await signPermit(payer, usd("5"))));
      expect((await router.spendable(payer)).amount).to.equal(usd("5"));
      await settle([{ payer, lines: [[tool, usd("5")]] }]);
      expect(await usdc.balanceOf(payer)).to.equal(usd("15"));
      expect(await router.creditOf(developer)).to.equal(usd("4.5"));
      expect((await router.spendable(payer)).amount).to.equal(0n);
    });

    it("a permit that has run out is none", async () => {
      const { usdc, signPermit, neighbour: payer, stranger } = await marketplace();
      const permit = await signPermit(payer, usd("5"), 1n);
      await expect(usdc.connect(stranger).permit(...permit)).to.be.revertedWith("FiatTokenV2: permit is expired");
    });
  });
});

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
