import { expect } from "chai";
import fc from "fast-check";
import { splitRevenue } from "../../settlement/domain/split.ts";
import { type Charge, FUNDS, freshHash, marketplace, networkHelpers, OPERATOR_LIMIT, usd } from "./fixture.ts";

// The same runs every time: a failure can be looked at again.
const SEED = 20_240_607;
const MAX_AMOUNT = 2n ** 48n - 1n;

const amountsFrom = (least: bigint) =>
  fc.oneof(fc.bigInt(least, 30n), fc.bigInt(least, usd("10")), fc.bigInt(least, MAX_AMOUNT));
const anyAmount = amountsFrom(0n);
// A payment of nothing is refused.
const anyPayment = amountsFrom(1n);

describe("the service and the contracts", () => {
  describe("split alike", () => {
    it("what the router credits for an amount is what splitRevenue says", async () => {
      const { router, fund, developer, treasury, payer, tool } = await marketplace();
      await fund(payer, 2n ** 60n);
      const credits = async () => [await router.creditOf(developer), await router.creditOf(treasury)] as const;
      const agrees = async (amount: bigint) => {
        const [developerBefore, treasuryBefore] = await credits();
        await router.connect(payer).pay(tool, amount, 0n);
        const [developerAfter, treasuryAfter] = await credits();
        expect({
          developerShare: developerAfter - developerBefore,
          protocolShare: treasuryAfter - treasuryBefore,
        }).to.deep.equal(splitRevenue(amount));
      };
      for (let amount = 1n; amount <= 30n; amount += 1n) await agrees(amount);
      for (const amount of [MAX_AMOUNT - 1n, MAX_AMOUNT]) await agrees(amount);
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
      const row = fc.record({
        payer: fc.constantFrom(...payers),
        modelCost: amount,
        lines: fc.array(line, { maxLength: 8 }),
      });

      await fc.assert(
        fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), async (rows) => {
          await restore();
          const charges: Charge[] = rows.map(({ lines, ...rest }) => ({
            ...rest,
            lines: lines.map((item) => [tools[item.index]?.toolId ?? "", item.amount] as const),
          }));
          const root = freshHash();
          const totalOf = (row: (typeof rows)[number]) => row.modelCost + sum(row.lines.map((item) => item.amount));
          const earned = tools.map((_, index) =>
            sum(rows.flatMap(({ lines }) => lines.filter((item) => item.index === index).map((item) => item.amount))),
          );
          const modelCosts = sum(rows.map(({ modelCost }) => modelCost));
          const treasuryShare = modelCosts + sum(earned.map((each) => splitRevenue(each).protocolShare));

          await expect(settle(charges, { root }))
            .to.emit(router, "BatchSettled")
            .withArgs(root, operator, sum(rows.map(totalOf)), treasuryShare);
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
      await expect(settle([{ payer, modelCost: MAX_AMOUNT, lines: [[tool, MAX_AMOUNT]] }]))
        .to.be.revertedWithCustomError(router, "OperatorLimitExceeded")
        .withArgs(2n * MAX_AMOUNT, OPERATOR_LIMIT);
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
