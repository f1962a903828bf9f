import { expect } from "chai";
import { FUNDS, freshHash, type Marketplace, marketplace, usd } from "../fixture.ts";

const OUTAGES = {
  "paused by Circle": {
    begin: ({ usdc }: Marketplace) => usdc.pause(),
    end: ({ usdc }: Marketplace) => usdc.unpause(),
    refusal: "Pausable: paused",
  },
  "closed to the router by Circle's blacklist": {
    begin: ({ usdc, router }: Marketplace) => usdc.blacklist(router),
    end: ({ usdc, router }: Marketplace) => usdc.unBlacklist(router),
    refusal: "Blacklistable: account is blacklisted",
  },
} as const;

for (const [outage, { begin, end, refusal }] of Object.entries(OUTAGES)) {
  describe(`a token that is ${outage}`, () => {
    it("fails no row: the batch is undone and can be settled afterwards", async () => {
      const market = await marketplace();
      const { router, usdc, settle, payer, tool } = market;
      const batchId = freshHash();
      const charges = [{ payer, lines: [[tool, usd("1")]] as const }];
      await begin(market);
      await expect(settle(charges, { batchId })).to.be.revertedWithCustomError(router, "TokenUnavailable");
      expect(await router.settledAt(batchId)).to.equal(0n);
      await end(market);
      await expect(settle(charges, { batchId })).not.to.emit(router, "ChargeFailed");
      expect(await usdc.balanceOf(payer)).to.equal(FUNDS - usd("1"));
    });

    it("is not blamed on a payer who could not have paid anyway", async () => {
      const market = await marketplace();
      const { router, settle, stranger, tool } = market;
      await begin(market);
      await expect(settle([{ payer: stranger, lines: [[tool, 1n]] }])).to.be.revertedWithCustomError(
        router,
        "TokenUnavailable",
      );
    });

    it("uses up nobody's limit", async () => {
      const market = await marketplace();
      const { router, settle, operator, payer, tool } = market;
      await router.connect(payer).setDailyCap(usd("5"));
      await begin(market);
      await expect(settle([{ payer, lines: [[tool, usd("1")]] }])).to.be.revertedWithCustomError(
        router,
        "TokenUnavailable",
      );
      const { limit, left } = await router.operatorLimit(operator);
      expect(left).to.equal(limit);
      expect((await router.dailyCap(payer)).left).to.equal(usd("5"));
    });

    it("leaves credits as they are, to be claimed afterwards", async () => {
      const market = await marketplace();
      const { router, usdc, settle, developer, payer, tool } = market;
      await settle([{ payer, lines: [[tool, usd("1")]] }]);
      await begin(market);
      await expect(router.connect(developer).claim()).to.be.revertedWith(refusal);
      await expect(router.payout([developer]))
        .to.emit(router, "PayoutFailed")
        .withArgs(developer, usd("0.9"));
      await end(market);
      await router.connect(developer).claim();
      expect(await usdc.balanceOf(developer)).to.equal(usd("0.9"));
    });
  });
}
