import { expect } from "chai";
import type { ContractTransaction } from "ethers";
import { ADMIN_DELAY_SECONDS, CLAIM, EVERYBODY, ROLES, type RoleName } from "../../scripts/protocol/description.ts";
import {
  DAY,
  freshHash,
  type Marketplace,
  marketplace,
  PARAMETERS,
  type Party,
  STAKE,
  slashTerms,
  time,
  usd,
} from "./fixture.ts";

const CHANGED = { ...PARAMETERS, minimumStake: usd("20") };

const OUTSIDERS = [
  "deployer",
  "admin",
  "guardian",
  "adjudicator",
  "operator",
  "developer",
  "treasury",
  "stranger",
] as const;

type Restricted = {
  call: string;
  role: RoleName;
  send: (market: Marketplace, by: Party) => Promise<unknown>;
};

// Every function of the contracts that is not open to everybody.
const restricted: Restricted[] = [
  {
    call: "ContextRouter.setOperatorLimit",
    role: "admin",
    send: ({ router, stranger }, by) => router.connect(by).setOperatorLimit(stranger, 1n),
  },
  {
    call: "ToolStaking.setParameters",
    role: "admin",
    send: ({ staking }, by) => staking.connect(by).setParameters(CHANGED),
  },
  {
    call: "ContextRouter.proposeBeneficiary",
    role: "admin",
    send: ({ router, stranger }, by) => router.connect(by).proposeBeneficiary(stranger),
  },
  {
    call: "ToolStaking.proposeBeneficiary",
    role: "admin",
    send: ({ staking, stranger }, by) => staking.connect(by).proposeBeneficiary(stranger),
  },
  {
    call: "ContextRouter.suspendOperator",
    role: "guardian",
    send: ({ router, operator }, by) => router.connect(by).suspendOperator(operator),
  },
  { call: "ContextRouter.pause", role: "guardian", send: ({ router }, by) => router.connect(by).pause() },
  { call: "ContextRouter.unpause", role: "guardian", send: ({ router }, by) => router.connect(by).unpause() },
  {
    call: "ToolStaking.vetoSlash",
    role: "guardian",
    send: ({ staking, tool }, by) => staking.connect(by).vetoSlash(tool, freshHash()),
  },
  {
    call: "ToolStaking.proposeSlash",
    role: "adjudicator",
    send: ({ staking, tool }, by) => staking.connect(by).proposeSlash(tool, slashTerms()),
  },
  {
    call: "ToolStaking.executeSlash",
    role: "adjudicator",
    send: ({ staking, tool }, by) => staking.connect(by).executeSlash(tool, slashTerms()),
  },
  {
    call: "ToolStaking.dismissSlash",
    role: "adjudicator",
    send: ({ staking, tool }, by) => staking.connect(by).dismissSlash(tool),
  },
  {
    call: "ToolStaking.penalize",
    role: "court",
    send: ({ staking, tool, payer }, by) => staking.connect(by).penalize(tool, 1n, payer, 1n),
  },
  {
    call: "ToolStaking.compensate",
    role: "court",
    send: ({ staking, tool, payer }, by) => staking.connect(by).compensate(tool, 1n, payer),
  },
  {
    call: "ReceiptCourt.noteRefund",
    role: "court",
    send: ({ receiptCourt, payer, tool }, by) => receiptCourt.connect(by).noteRefund(paidNothing(payer, tool)),
  },
  {
    call: "OperatorBonds.setParameters",
    role: "admin",
    send: ({ bonds }, by) => bonds.connect(by).setParameters({ minimumBond: usd("10"), limitBps: 0 }),
  },
  {
    call: "OperatorBonds.nameCourt",
    role: "admin",
    send: ({ bonds, stranger }, by) => bonds.connect(by).nameCourt(stranger),
  },
];

// A proof that would prove nothing, if anybody looked at it.
const paidNothing = (payer: Party, toolId: string) => ({
  settlement: { operator: payer.address, call: "0x", exceptions: [] },
  receipt: {
    chargeId: freshHash(),
    payer: payer.address,
    chargedTo: payer.address,
    toolId,
    amount: 1n,
    calls: 1n,
    accruedAtMs: 0n,
    attempts: 0n,
    request: freshHash(),
    response: freshHash(),
    schema: freshHash(),
  },
  path: [],
});

describe("roles", () => {
  describe("after the deployment", () => {
    it("the deployer has no role left and cannot get one", async () => {
      const { manager, deployer } = await marketplace();
      for (const role of Object.values(ROLES)) {
        expect((await manager.hasRole(role, deployer)).isMember).to.equal(false);
      }
      await expect(manager.connect(deployer).grantRole(ROLES.admin, deployer, 0))
        .to.be.revertedWithCustomError(manager, "AccessManagerUnauthorizedAccount")
        .withArgs(deployer, ROLES.admin);
    });

    it("each party has its role, and only the admin has to wait", async () => {
      const { manager, admin, guardian, adjudicator } = await marketplace();
      expect(await manager.hasRole(ROLES.admin, admin)).to.deep.equal([true, BigInt(ADMIN_DELAY_SECONDS)]);
      expect(await manager.hasRole(ROLES.guardian, guardian)).to.deep.equal([true, 0n]);
      expect(await manager.hasRole(ROLES.adjudicator, adjudicator)).to.deep.equal([true, 0n]);
      expect(ADMIN_DELAY_SECONDS).to.equal(8 * DAY);
    });
  });

  describe("each restricted function", () => {
    for (const { call, role, send } of restricted) {
      it(`${call} is refused to everybody but the ${role}`, async () => {
        const market = await marketplace();
        for (const name of OUTSIDERS.filter((outsider) => outsider !== role)) {
          await expect(send(market, market[name]), name)
            .to.be.revertedWithCustomError(market.router, "AccessManagedUnauthorized")
            .withArgs(market[name]);
        }
      });
    }

    it("was given to its role by the deployment, and no other function was given to anybody", async () => {
      const { manager, router, staking, bonds, receiptCourt, parts } = await marketplace();
      const names = new Map<string, string>();
      for (const [name, contract] of [
        ["ProtocolAccess", manager],
        ["ContextRouter", router],
        ["ToolStaking", staking],
        ["OperatorBonds", bonds],
        ["ReceiptCourt", receiptCourt],
      ] as const) {
        contract.interface.forEachFunction((item) =>
          names.set(`${contract.target}${item.selector}`, `${name}.${item.name}`),
        );
      }
      const updates = await manager.queryFilter(manager.filters.TargetFunctionRoleUpdated());
      // By that the registry knows the contracts of the protocol. What is everybody's is nobody's to be given.
      const [marks, others] = [true, false].map((isMark) =>
        updates.filter(({ args }) => (args.selector === CLAIM) === isMark),
      );
      expect(marks?.map(({ args }) => [args.target, args.roleId])).to.deep.equal(
        parts.map((part) => [part.target, EVERYBODY]),
      );
      const given = others?.map(({ args }) => [names.get(`${args.target}${args.selector}`), args.roleId]);
      // What was given to nobody is the admin's.
      const expected = restricted.filter(({ role }) => role !== "admin").map(({ call, role }) => [call, ROLES[role]]);
      expect(given).to.have.deep.members([["ProtocolAccess.suspend", ROLES.guardian], ...expected]);
    });
  });

  describe("the guardian", () => {
    it("pauses, unpauses and suspends at once", async () => {
      const { router, guardian, operator } = await marketplace();
      await router.connect(guardian).pause();
      expect(await router.paused()).to.equal(true);
      await router.connect(guardian).unpause();
      expect(await router.paused()).to.equal(false);
      await router.connect(guardian).suspendOperator(operator);
      expect((await router.operatorLimit(operator)).limit).to.equal(0n);
    });

    it("vetoes a slash at once", async () => {
      const { staking, veto, adjudicator, tool } = await marketplace();
      await staking.connect(adjudicator).proposeSlash(tool, slashTerms());
      await veto(tool);
      expect((await staking.slashOf(tool)).expiresAt).to.equal(0n);
    });
  });

  describe("the admin", () => {
    async function scheduled(call: (market: Marketplace) => Promise<ContractTransaction>) {
      const market = await marketplace();
      const { manager, admin } = market;
      const { to, data } = await call(market);
      const operationId = await manager.hashOperation(admin, to, data);
      await manager.connect(admin).schedule(to, data, 0);
      const readyAt = Number(await manager.getSchedule(operationId));
      return { ...market, to, data, operationId, readyAt };
    }

    const raiseLimit = ({ router, operator }: Marketplace) =>
      router.setOperatorLimit.populateTransaction(operator, usd("5"));
    const raiseStakes = ({ staking }: Marketplace) => staking.setParameters.populateTransaction(CHANGED);

    for (const [what, call] of [
      ["an operator's limit", raiseLimit],
      ["the parameters", raiseStakes],
    ] as const) {
      it(`cannot change ${what} without announcing it`, async () => {
        const market = await marketplace();
        const { manager, admin } = market;
        const { to, data } = await call(market);
        await expect(admin.sendTransaction({ to, data }))
          .to.be.revertedWithCustomError(manager, "AccessManagerNotScheduled")
          .withArgs(await manager.hashOperation(admin, to, data));
      });

      it(`cannot change ${what} a second before eight days have passed`, async () => {
        const { manager, admin, to, data, operationId, readyAt } = await scheduled(call);
        await time.setNextBlockTimestamp(readyAt - 1);
        await expect(manager.connect(admin).execute(to, data))
          .to.be.revertedWithCustomError(manager, "AccessManagerNotReady")
          .withArgs(operationId);
        await time.setNextBlockTimestamp(readyAt);
        await manager.connect(admin).execute(to, data);
      });
    }

    it("cannot shorten the wait by asking for it", async () => {
      const { manager, router, admin, operator } = await marketplace();
      const { to, data } = await router.setOperatorLimit.populateTransaction(operator, usd("5"));
      await expect(manager.connect(admin).schedule(to, data, (await time.latest()) + DAY))
        .to.be.revertedWithCustomError(manager, "AccessManagerUnauthorizedCall")
        .withArgs(admin, router, data.slice(0, 10));
    });

    it("decides again when a decision has lain for a week", async () => {
      const { manager, admin, to, data, operationId, readyAt } = await scheduled(raiseLimit);
      await time.setNextBlockTimestamp(readyAt + 7 * DAY);
      await expect(manager.connect(admin).execute(to, data))
        .to.be.revertedWithCustomError(manager, "AccessManagerExpired")
        .withArgs(operationId);
    });

    it("carries a decision out once", async () => {
      const { manager, admin, to, data, operationId, readyAt } = await scheduled(raiseLimit);
      await time.increaseTo(readyAt);
      await manager.connect(admin).execute(to, data);
      await expect(manager.connect(admin).execute(to, data))
        .to.be.revertedWithCustomError(manager, "AccessManagerNotScheduled")
        .withArgs(operationId);
    });

    it("can take a decision back before it is carried out", async () => {
      const { manager, router, admin, operator, to, data, operationId, readyAt } = await scheduled(raiseLimit);
      const { limit } = await router.operatorLimit(operator);
      await manager.connect(admin).cancel(admin, to, data);
      await time.increaseTo(readyAt);
      await expect(manager.connect(admin).execute(to, data))
        .to.be.revertedWithCustomError(manager, "AccessManagerNotScheduled")
        .withArgs(operationId);
      expect((await router.operatorLimit(operator)).limit).to.equal(limit);
    });

    it("cannot leave the bounds, delay or not", async () => {
      const { staking, asAdmin } = await marketplace();
      const call = staking.setParameters.populateTransaction({ ...PARAMETERS, minimumStake: usd("10001") });
      await expect(asAdmin(call)).to.be.revertedWithCustomError(staking, "ParameterOutOfBounds");
      expect((await staking.parameters()).minimumStake).to.equal(STAKE);
    });

    it("waits eight days to name a guardian or an adjudicator, too", async () => {
      const { manager, asAdmin, admin, stranger, rival } = await marketplace();
      for (const [role, newcomer] of [
        [ROLES.guardian, stranger],
        [ROLES.adjudicator, rival],
      ] as const) {
        await expect(manager.connect(admin).grantRole(role, newcomer, 0)).to.be.revertedWithCustomError(
          manager,
          "AccessManagerNotScheduled",
        );
        await asAdmin(manager.grantRole.populateTransaction(role, newcomer, 0));
        expect((await manager.hasRole(role, newcomer)).isMember).to.equal(true);
      }
    });

    it("is handed over in two steps: the old admin grants, and the new one shows that it can act by revoking", async () => {
      const { manager, asAdmin, admin, stranger: successor } = await marketplace();
      await asAdmin(manager.grantRole.populateTransaction(ROLES.admin, successor, ADMIN_DELAY_SECONDS));
      expect((await manager.hasRole(ROLES.admin, admin)).isMember).to.equal(true);
      expect(await manager.hasRole(ROLES.admin, successor)).to.deep.equal([true, BigInt(ADMIN_DELAY_SECONDS)]);

      const revocation = manager.revokeRole.populateTransaction(ROLES.admin, admin);
      await expect(asAdmin(revocation, { by: successor }))
        .to.emit(manager, "RoleRevoked")
        .withArgs(ROLES.admin, admin);
      expect((await manager.hasRole(ROLES.admin, admin)).isMember).to.equal(false);
      await expect(asAdmin(revocation)).to.be.revertedWithCustomError(manager, "AccessManagerUnauthorizedCall");
    });

    it("cannot move a contract to another authority", async () => {
      const { router, staking, admin, stranger } = await marketplace();
      for (const contract of [router, staking]) {
        await expect(contract.connect(admin).setAuthority(stranger))
          .to.be.revertedWithCustomError(router, "AccessManagedUnauthorized")
          .withArgs(admin);
      }
    });

    it("cannot be taken by the guardian or the adjudicator", async () => {
      const { manager, guardian, adjudicator } = await marketplace();
      for (const thief of [guardian, adjudicator]) {
        await expect(manager.connect(thief).grantRole(ROLES.admin, thief, 0))
          .to.be.revertedWithCustomError(manager, "AccessManagerUnauthorizedAccount")
          .withArgs(thief, ROLES.admin);
      }
    });
  });
});
