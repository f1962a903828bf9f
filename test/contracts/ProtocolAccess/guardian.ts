import { expect } from "chai";
import { ADMIN_DELAY_SECONDS, ROLES } from "../../../scripts/protocol/description.ts";
import { marketplace, PARAMETERS, time, usd } from "../fixture.ts";

describe("the guardian", () => {
  it("cancels what the admin has scheduled: limits, parameters, roles, accounts", async () => {
    const { manager, router, staking, admin, guardian, operator, stranger } = await marketplace();
    for (const call of [
      router.setOperatorLimit.populateTransaction(operator, usd("1000000")),
      staking.setParameters.populateTransaction({ ...PARAMETERS, bountyBps: 3000 }),
      manager.grantRole.populateTransaction(ROLES.adjudicator, stranger, 0),
      manager.grantRole.populateTransaction(ROLES.court, stranger, 0),
      manager.grantRole.populateTransaction(ROLES.admin, stranger, ADMIN_DELAY_SECONDS),
      manager.revokeRole.populateTransaction(ROLES.adjudicator, stranger),
      manager.labelRole.populateTransaction(ROLES.court, "adjudicator"),
      router.proposeBeneficiary.populateTransaction(stranger),
    ]) {
      const { to, data } = await call;
      await manager.connect(admin).schedule(to, data, 0);
      await expect(manager.connect(guardian).cancel(admin, to, data)).to.emit(manager, "OperationCanceled");
      await time.increase(ADMIN_DELAY_SECONDS);
      await expect(manager.connect(admin).execute(to, data)).to.be.revertedWithCustomError(
        manager,
        "AccessManagerNotScheduled",
      );
    }
  });

  it("has no say in who is guardian, so that a thief with its key does not stay", async () => {
    const { manager, admin, guardian: thief, stranger } = await marketplace();
    for (const call of [
      manager.revokeRole.populateTransaction(ROLES.guardian, thief),
      manager.grantRole.populateTransaction(ROLES.guardian, stranger, 0),
    ]) {
      const { to, data } = await call;
      await manager.connect(admin).schedule(to, data, 0);
      await expect(manager.connect(thief).cancel(admin, to, data)).to.be.revertedWithCustomError(
        manager,
        "AccessManagerUnauthorizedCancel",
      );
      await time.increase(ADMIN_DELAY_SECONDS);
      await manager.connect(admin).execute(to, data);
    }
    expect((await manager.hasRole(ROLES.guardian, thief)).isMember).to.equal(false);
    expect((await manager.hasRole(ROLES.guardian, stranger)).isMember).to.equal(true);
  });

  it("is the only one who can cancel, beside the admin", async () => {
    const { manager, router, admin, adjudicator, operator, stranger } = await marketplace();
    const { to, data } = await router.setOperatorLimit.populateTransaction(operator, 1n);
    await manager.connect(admin).schedule(to, data, 0);
    for (const outsider of [adjudicator, operator, stranger]) {
      await expect(manager.connect(outsider).cancel(admin, to, data)).to.be.revertedWithCustomError(
        manager,
        "AccessManagerUnauthorizedCancel",
      );
    }
  });

  it("suspends an adjudicator at once, whom the admin brings back after its delay", async () => {
    const { manager, asAdmin, guardian, adjudicator } = await marketplace();
    await expect(manager.connect(guardian).suspend(ROLES.adjudicator, adjudicator))
      .to.emit(manager, "RoleRevoked")
      .withArgs(ROLES.adjudicator, adjudicator);
    await asAdmin(manager.grantRole.populateTransaction(ROLES.adjudicator, adjudicator, 0));
    expect((await manager.hasRole(ROLES.adjudicator, adjudicator)).isMember).to.equal(true);
  });

  it("suspends nobody who can take nothing, and nobody who does not hold the role", async () => {
    const { manager, admin, guardian, stranger } = await marketplace();
    for (const [role, account] of [
      [ROLES.admin, admin],
      [ROLES.guardian, guardian],
    ] as const) {
      await expect(manager.connect(guardian).suspend(role, account))
        .to.be.revertedWithCustomError(manager, "RoleNotSuspendable")
        .withArgs(role);
    }
    await expect(manager.connect(guardian).suspend(ROLES.adjudicator, stranger))
      .to.be.revertedWithCustomError(manager, "RoleNotHeld")
      .withArgs(ROLES.adjudicator, stranger);
  });

  it("is the only one who suspends at once", async () => {
    const { manager, admin, adjudicator, operator, stranger } = await marketplace();
    for (const outsider of [admin, adjudicator, operator, stranger]) {
      await expect(manager.connect(outsider).suspend(ROLES.adjudicator, adjudicator)).to.be.revertedWithCustomError(
        manager,
        "AccessManagerUnauthorizedAccount",
      );
    }
  });
});
