import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { DAY, ethers, type Marketplace, marketplace, STAKE, slashTerms, time, usd } from "./fixture.ts";

// The treasury of the router and the insurance account of the registry: the same rules, and what each of them gets.
const SEATS = [
  {
    seat: "treasury",
    contract: ({ router }: Marketplace) => router,
    read: ({ router }: Marketplace) => router.treasury(),
    // The protocol's share of a charge of ten dollars.
    earn: async ({ settle, payer, tool }: Marketplace) => settle([{ payer, lines: [[tool, usd("10")]] }]),
    earned: usd("1"),
  },
  {
    seat: "insurance",
    contract: ({ staking }: Marketplace) => staking,
    read: ({ staking }: Marketplace) => staking.insurance(),
    // What a slash leaves that nobody was harmed by and nobody reported.
    earn: async ({ staking, adjudicator, tool }: Marketplace) => {
      const terms = slashTerms({ amount: STAKE });
      await staking.connect(adjudicator).proposeSlash(tool, terms);
      await time.increase(3 * DAY);
      return staking.connect(adjudicator).executeSlash(tool, terms);
    },
    earned: STAKE,
  },
] as const;

for (const { seat, contract, read, earn, earned } of SEATS) {
  describe(`the ${seat}`, () => {
    async function proposed() {
      const market = await marketplace();
      const { asAdmin, [seat]: previous, stranger: successor } = market;
      const target = contract(market);
      await expect(asAdmin(target.proposeBeneficiary.populateTransaction(successor)))
        .to.emit(target, "BeneficiaryProposed")
        .withArgs(previous, successor);
      return { ...market, target, previous, successor };
    }

    it("is who it was until the account that the admin proposed has accepted", async () => {
      const market = await proposed();
      const { target, previous, successor } = market;
      expect(await read(market)).to.equal(previous);
      expect(await target.pendingBeneficiary()).to.equal(successor);
      await earn(market);
      expect(await target.creditOf(previous)).to.equal(earned);
      expect(await target.creditOf(successor)).to.equal(0n);
    });

    it("is the new account from its acceptance on, and the old one keeps what it was credited", async () => {
      const market = await marketplace();
      const { asAdmin, settle, payer, tool, [seat]: previous, stranger: successor } = market;
      const target = contract(market);
      if (seat === "treasury") await settle([{ payer, lines: [[tool, usd("1")]] }]);
      const before = await target.creditOf(previous);
      await asAdmin(target.proposeBeneficiary.populateTransaction(successor));
      await expect(target.connect(successor).acceptBeneficiary())
        .to.emit(target, "BeneficiaryChanged")
        .withArgs(previous, successor);
      expect(await read(market)).to.equal(successor);
      expect(await target.pendingBeneficiary()).to.equal(ZeroAddress);
      await earn(market);
      expect(await target.creditOf(successor)).to.equal(earned);
      expect(await target.creditOf(previous)).to.equal(before);
    });

    it("cannot be taken by anybody to whom it was not proposed, the previous account and the admin included", async () => {
      const { target, admin, guardian, previous, successor, rival } = await proposed();
      for (const thief of [admin, guardian, previous, rival]) {
        await expect(target.connect(thief).acceptBeneficiary())
          .to.be.revertedWithCustomError(target, "NotPendingBeneficiary")
          .withArgs(thief, successor);
      }
    });

    it("is accepted once, and a proposal can be taken back", async () => {
      const market = await proposed();
      const { target, asAdmin, successor } = market;
      await asAdmin(target.proposeBeneficiary.populateTransaction(ZeroAddress));
      await expect(target.connect(successor).acceptBeneficiary())
        .to.be.revertedWithCustomError(target, "NotPendingBeneficiary")
        .withArgs(successor, ZeroAddress);
      await asAdmin(target.proposeBeneficiary.populateTransaction(successor));
      await target.connect(successor).acceptBeneficiary();
      await expect(target.connect(successor).acceptBeneficiary()).to.be.revertedWithCustomError(
        target,
        "NotPendingBeneficiary",
      );
    });

    it("is not replaced without announcing it", async () => {
      const { manager, admin, stranger, ...market } = await marketplace();
      const target = contract({ manager, admin, stranger, ...market });
      await expect(target.connect(admin).proposeBeneficiary(stranger)).to.be.revertedWithCustomError(
        manager,
        "AccessManagerNotScheduled",
      );
    });
  });
}

it("the treasury lies in the slot of the router's pause, so that a batch reads one cold slot for both", async () => {
  const { router, guardian, treasury } = await marketplace();
  const address = await router.getAddress();
  const slots = () => Promise.all(Array.from({ length: 16 }, (_, slot) => ethers.provider.getStorage(address, slot)));
  const before = await slots();
  await router.connect(guardian).pause();
  const changed = (await slots()).filter((word, slot) => word !== before[slot]);
  expect(changed).to.have.length(1);
  expect(changed[0]).to.contain(treasury.address.slice(2).toLowerCase());
});
