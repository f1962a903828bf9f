import { expect } from "chai";
import { ADMIN_DELAY_SECONDS, ROLES } from "../../../scripts/protocol/description.ts";
import { ProtocolAccess__factory } from "../../../typechain-types/index.ts";
import { DAY, type Marketplace, marketplace, time } from "../fixture.ts";

// Every way that OpenZeppelin's AccessManager offers to shorten the admin's delay, or to let somebody act in its place.
const WAYS: readonly { way: string; call: (market: Marketplace) => Promise<string> | string; error: string }[] = [
  {
    way: "an admin without a delay",
    call: ({ manager, rival }) => manager.interface.encodeFunctionData("grantRole", [ROLES.admin, rival.address, 0]),
    error: "AdminDelayTooShort",
  },
  {
    way: "a second less for the admin itself",
    call: ({ manager, admin }) =>
      manager.interface.encodeFunctionData("grantRole", [ROLES.admin, admin.address, ADMIN_DELAY_SECONDS - 1]),
    error: "AdminDelayTooShort",
  },
  {
    way: "a role that administers the adjudicators",
    call: ({ manager }) => manager.interface.encodeFunctionData("setRoleAdmin", [ROLES.adjudicator, 7n]),
    error: "WiringIsFixed",
  },
  {
    way: "adjudicators whom anybody may name",
    call: ({ manager }) => manager.interface.encodeFunctionData("setRoleAdmin", [ROLES.adjudicator, 2n ** 64n - 1n]),
    error: "WiringIsFixed",
  },
  {
    way: "another guardian of a role",
    call: ({ manager }) => manager.interface.encodeFunctionData("setRoleGuardian", [ROLES.adjudicator, 7n]),
    error: "WiringIsFixed",
  },
  {
    way: "grants that lie in wait",
    call: ({ manager }) => manager.interface.encodeFunctionData("setGrantDelay", [ROLES.admin, 30 * DAY]),
    error: "WiringIsFixed",
  },
  {
    way: "a delay of a target",
    call: async ({ manager, staking }) =>
      manager.interface.encodeFunctionData("setTargetAdminDelay", [await staking.getAddress(), 30 * DAY]),
    error: "WiringIsFixed",
  },
  {
    way: "a closed target, which would disarm the guardian",
    call: async ({ manager, router }) =>
      manager.interface.encodeFunctionData("setTargetClosed", [await router.getAddress(), true]),
    error: "WiringIsFixed",
  },
  {
    way: "a limit that another role sets at once",
    call: async ({ manager, router }) =>
      manager.interface.encodeFunctionData("setTargetFunctionRole", [
        await router.getAddress(),
        [router.interface.getFunction("setOperatorLimit").selector],
        ROLES.guardian,
      ]),
    error: "WiringIsFixed",
  },
  {
    way: "another authority, by way of the manager",
    // Any contract can be an authority; the router would answer nothing.
    call: async ({ manager, staking, router }) =>
      manager.interface.encodeFunctionData("updateAuthority", [await staking.getAddress(), await router.getAddress()]),
    error: "WiringIsFixed",
  },
];

describe("ProtocolAccess", () => {
  for (const { way, call, error } of WAYS) {
    it(`refuses ${way}, announced for eight days, whichever way the admin executes it`, async () => {
      const market = await marketplace();
      const { manager, staking, admin, rival } = market;
      const data = await call(market);
      await manager.connect(admin).schedule(manager, data, 0);
      await time.increase(ADMIN_DELAY_SECONDS);
      const to = await manager.getAddress();
      await expect(manager.connect(admin).execute(to, data)).to.be.revertedWithCustomError(manager, error);
      await expect(admin.sendTransaction({ to, data })).to.be.revertedWithCustomError(manager, error);
      expect(await staking.authority()).to.equal(manager);
      expect((await manager.hasRole(ROLES.admin, rival)).isMember).to.equal(false);
    });
  }

  it("refuses another authority, by way of the contract itself", async () => {
    const { manager, router, staking, admin } = await marketplace();
    for (const contract of [router, staking]) {
      const data = contract.interface.encodeFunctionData("setAuthority", [await router.getAddress()]);
      await expect(manager.connect(admin).schedule(contract, data, 0)).to.be.revertedWithCustomError(
        manager,
        "AccessManagerUnauthorizedCall",
      );
      expect(await contract.authority()).to.equal(manager);
    }
  });

  it("lets no deployer leave behind what the admin could not do", async () => {
    const { deployer, rival } = await marketplace();
    const fresh = await new ProtocolAccess__factory(deployer).deploy(deployer);
    await expect(fresh.grantRole(ROLES.admin, rival, 0))
      .to.be.revertedWithCustomError(fresh, "AdminDelayTooShort")
      .withArgs(0, ADMIN_DELAY_SECONDS);
    for (const attempt of [
      () => fresh.setRoleAdmin(ROLES.adjudicator, 7n),
      () => fresh.setRoleGuardian(ROLES.adjudicator, 7n),
      () => fresh.setGrantDelay(ROLES.admin, 1),
      () => fresh.setTargetAdminDelay(rival, 1),
      () => fresh.setTargetClosed(rival, true),
      () => fresh.updateAuthority(rival, fresh),
    ]) {
      await expect(attempt()).to.be.revertedWithCustomError(fresh, "WiringIsFixed");
    }
  });

  it("lets the deployer alone say which functions belong to which role", async () => {
    const { deployer, rival, staking } = await marketplace();
    const fresh = await new ProtocolAccess__factory(deployer).deploy(deployer);
    const { selector } = staking.interface.getFunction("vetoSlash");
    await expect(fresh.connect(rival).setTargetFunctionRole(staking, [selector], 1n)).to.be.revertedWithCustomError(
      fresh,
      "WiringIsFixed",
    );
    await fresh.setTargetFunctionRole(staking, [selector], 1n);
    expect(await fresh.getTargetFunctionRole(staking, selector)).to.equal(1n);
  });

  it("lets the admin lengthen its own delay, and shorten it again to eight days", async () => {
    const { manager, admin, asAdmin } = await marketplace();
    await asAdmin(manager.grantRole.populateTransaction(ROLES.admin, admin, 30 * DAY));
    expect((await manager.hasRole(ROLES.admin, admin)).executionDelay).to.equal(30 * DAY);
    const { to, data } = await manager.grantRole.populateTransaction(ROLES.admin, admin, ADMIN_DELAY_SECONDS);
    await manager.connect(admin).schedule(to, data, 0);
    await time.increase(30 * DAY);
    await manager.connect(admin).execute(to, data);
    // The shorter delay takes effect when the longer one would have ended.
    expect((await manager.hasRole(ROLES.admin, admin)).executionDelay).to.equal(30 * DAY);
    await time.increase(22 * DAY);
    expect((await manager.hasRole(ROLES.admin, admin)).executionDelay).to.equal(ADMIN_DELAY_SECONDS);
  });

  it("lets no thief leave the protocol without an admin, but lets the admin leave when it was announced", async () => {
    const { manager, asAdmin, admin } = await marketplace();
    await expect(manager.connect(admin).renounceRole(ROLES.admin, admin))
      .to.be.revertedWithCustomError(manager, "AdminCannotRenounce")
      .withArgs(admin);
    await asAdmin(manager.revokeRole.populateTransaction(ROLES.admin, admin));
    expect((await manager.hasRole(ROLES.admin, admin)).isMember).to.equal(false);
  });

  it("lets everybody else leave at once", async () => {
    const { manager, guardian, adjudicator } = await marketplace();
    for (const [role, account] of [
      [ROLES.guardian, guardian],
      [ROLES.adjudicator, adjudicator],
    ] as const) {
      await manager.connect(account).renounceRole(role, account);
      expect((await manager.hasRole(role, account)).isMember).to.equal(false);
    }
  });

  it("gives nobody two roles", async () => {
    const { manager, asAdmin, admin, guardian, adjudicator } = await marketplace();
    for (const [role, account, held] of [
      [ROLES.guardian, admin, ROLES.admin],
      [ROLES.adjudicator, guardian, ROLES.guardian],
      [ROLES.guardian, adjudicator, ROLES.adjudicator],
      [ROLES.court, adjudicator, ROLES.adjudicator],
    ] as const) {
      await expect(asAdmin(manager.grantRole.populateTransaction(role, account, 0)))
        .to.be.revertedWithCustomError(manager, "RoleHeld")
        .withArgs(held, account);
    }
    await expect(asAdmin(manager.grantRole.populateTransaction(ROLES.admin, guardian, ADMIN_DELAY_SECONDS)))
      .to.be.revertedWithCustomError(manager, "RoleHeld")
      .withArgs(ROLES.guardian, guardian);
  });
});
