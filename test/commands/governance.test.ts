import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { id } from "ethers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROLES } from "../../scripts/protocol/description.ts";
import { mined } from "../../scripts/world/mined.ts";
import { addressOf, fail, type Person, passTime, startDeployedChain, succeed } from "./chain.ts";

const DAY = 24 * 60 * 60;

let deployed: Awaited<ReturnType<typeof startDeployedChain>>;

const as = (person: Person, ...command: string[]) => succeed(deployed.chain, person, ...command);
const refused = (person: Person, ...command: string[]) => fail(deployed.chain, person, ...command);

beforeAll(async () => {
  deployed = await startDeployedChain();
});

afterAll(() => deployed.chain.stop());

// In order: each claim stands on what the ones before it did.
describe("the admin", () => {
  const newcomer = addressOf("payer");
  let operation: string;

  it("an operator is added in two steps with eight days between them", async () => {
    const scheduled = await as("admin", "operator", "add", newcomer, "--limit", "500", "--yes");
    operation = scheduled.operation;
    expect((await deployed.router.operatorLimit(newcomer)).limit).toBe(0n);
    expect(await as("admin", "operation", "list")).toMatchObject([
      { id: operation, description: `router.setOperatorLimit(${newcomer}, 500000000)`, ready: false },
    ]);
    expect(await refused("admin", "operation", "execute", operation)).toMatch(/can be executed from .* UTC on/);
    expect(await refused("admin", "operator", "add", newcomer, "--limit", "500")).toContain(
      `run operation execute ${operation}`,
    );

    await passTime(deployed.chain, 8 * DAY);
    expect(await refused("guardian", "operation", "execute", operation)).toContain(`Only ${addressOf("admin")}`);
    await as("admin", "operation", "execute", operation, "--yes");
    expect((await deployed.router.operatorLimit(newcomer)).limit).toBe(500_000_000n);
    expect(await as("admin", "operation", "list")).toEqual([]);
    expect(await as("admin", "operator", "list")).toEqual([
      { operator: addressOf("operator"), limitUsd: "10000.00", leftUsd: "10000.00" },
      { operator: newcomer, limitUsd: "500.00", leftUsd: "500.00" },
    ]);
  });

  it("a limit is changed and an operator removed the same way", async () => {
    const change = await as("admin", "operator", "limit", newcomer, "--limit", "250.50", "--yes");
    const removal = await as("admin", "operator", "remove", addressOf("operator"), "--yes");
    await passTime(deployed.chain, 8 * DAY);
    await as("admin", "operation", "execute", change.operation, "--yes");
    await as("admin", "operation", "execute", removal.operation, "--yes");
    expect(await as("admin", "operator", "list")).toEqual([
      { operator: newcomer, limitUsd: "250.50", leftUsd: "250.50" },
    ]);
  });

  it("nobody who checks operators becomes one", async () => {
    expect(await refused("admin", "operator", "add", addressOf("guardian"), "--limit", "1")).toContain("is guardian");
  });

  it("a limit that could not be executed is not scheduled", async () => {
    expect(await refused("admin", "operator", "limit", newcomer, "--limit", "1000000.01")).toBe(
      "The highest possible limit is 1000000.00 USDC: name a lower one. Nothing was sent.",
    );
  });

  it("a scheduled operation can be cancelled", async () => {
    const scheduled = await as("admin", "set-parameters", "--bounty-bps", "2000", "--yes");
    await as("admin", "operation", "cancel", scheduled.operation, "--yes");
    expect(await as("admin", "operation", "list")).toEqual([]);
    expect(await refused("admin", "operation", "execute", scheduled.operation)).toContain("is not waiting");
  });

  it("parameters that are not named stay as they are, and bounds are checked before scheduling", async () => {
    expect(await refused("admin", "set-parameters", "--stake-multiplier", "1001")).toContain("must be 1 to 1000");
    const scheduled = await as("admin", "set-parameters", "--minimum-stake", "12.50", "--yes");
    await passTime(deployed.chain, 8 * DAY);
    await as("admin", "operation", "execute", scheduled.operation, "--yes");
    expect(await as("admin", "parameters")).toEqual({
      minimumStakeUsd: "12.50",
      stakeMultiplier: 100,
      bountyBps: 1000,
      maxPenaltyUsd: "5.00",
      dailyPenaltyBps: 2500,
      earningMultiple: 100,
      paused: false,
    });
  });

  it("anything else that the admin may do is scheduled by name", async () => {
    const grant = ["--contract", "manager", "--method", "grantRole", "--arguments"];
    expect(await refused("admin", "operation", "schedule", ...grant, "[1]")).toContain(
      "uint64 roleId, address account",
    );
    const scheduled = await as(
      "admin",
      "operation",
      "schedule",
      ...grant,
      JSON.stringify([Number(ROLES.guardian), newcomer, 0]),
      "--yes",
    );
    await passTime(deployed.chain, 8 * DAY);
    await as("admin", "operation", "execute", scheduled.operation, "--yes");
    expect((await deployed.manager.hasRole(ROLES.guardian, newcomer)).isMember).toBe(true);
  });

  it("a second role for one account and an admin without a delay cannot be executed, though scheduled", async () => {
    const grant = ["operation", "schedule", "--contract", "manager", "--method", "grantRole", "--arguments"];
    const { manager, chain } = deployed;
    for (const [role, account, error] of [
      [ROLES.adjudicator, addressOf("guardian"), "holds role 1"],
      [ROLES.admin, addressOf("developer"), "faster than anybody can leave"],
    ] as const) {
      const scheduled = await as("admin", ...grant, JSON.stringify([Number(role), account, 0]), "--yes");
      await passTime(chain, 8 * DAY);
      expect(await refused("admin", "operation", "execute", scheduled.operation)).toContain(error);
      await as("admin", "operation", "cancel", scheduled.operation, "--yes");
      expect((await manager.hasRole(role, account)).isMember).toBe(false);
    }
  });

  it("whoever is not the admin is told who is", async () => {
    expect(await refused("developer", "operator", "remove", newcomer)).toBe(
      `Only the admin may do this, and ${addressOf("developer")} is not: use the key of ${addressOf("admin")} ` +
        "with --from, or prepare it for a multisig with --safe. Nothing was sent.",
    );
  });

  it("--safe prints a transaction that does the same when the multisig sends it, and sends nothing", async () => {
    const { chain, manager, router } = deployed;
    const { code, stdout } = await chain.hardhat(
      ["operator", "limit", newcomer, "--limit", "300", "--network", "base", "--safe"],
      // No key at all: whoever prepares a multisig's transaction needs none.
      { env: { BASE_KEY: undefined } },
    );
    expect(code).toBe(0);
    const batch = JSON.parse(stdout);
    expect(batch).toMatchObject({
      version: "1.0",
      chainId: "8453",
      meta: { createdFromSafeAddress: addressOf("admin") },
      transactions: [{ to: await manager.getAddress(), value: "0", contractMethod: null }],
    });
    const [{ to, data }] = batch.transactions;
    await mined(chain.wallet("admin").sendTransaction({ to, data }));
    const [{ id: operation }] = await as("admin", "operation", "list");
    await passTime(chain, 8 * DAY);
    await as("admin", "operation", "execute", operation, "--yes");
    expect((await router.operatorLimit(newcomer)).limit).toBe(300_000_000n);
  });
});

describe("the guardian", () => {
  it("payments are paused and go on at once", async () => {
    await as("guardian", "pause", "--yes");
    expect(await deployed.router.paused()).toBe(true);
    expect(await refused("guardian", "pause")).toContain("payments are paused");
    await as("guardian", "unpause", "--yes");
    expect(await deployed.router.paused()).toBe(false);
  });

  it("what the admin has scheduled is cancelled by the guardian, unless it is about a guardian", async () => {
    const { operation } = await as("admin", "set-parameters", "--bounty-bps", "3000", "--yes");
    expect(await refused("adjudicator", "operation", "cancel", operation)).toContain("may not cancel this");
    await as("guardian", "operation", "cancel", operation, "--yes");
    expect(await as("admin", "operation", "list")).toEqual([]);

    const revoke = ["--contract", "manager", "--method", "revokeRole", "--arguments"];
    const dismissal = JSON.stringify([Number(ROLES.guardian), addressOf("guardian")]);
    const own = await as("admin", "operation", "schedule", ...revoke, dismissal, "--yes");
    expect(await refused("guardian", "operation", "cancel", own.operation)).toContain("unless it is about a guardian");
    await as("admin", "operation", "cancel", own.operation, "--yes");
  });

  it("an adjudicator is suspended at once, and comes back after the admin's delay", async () => {
    const { manager, chain } = deployed;
    const adjudicator = addressOf("adjudicator");
    expect(await refused("guardian", "role", "suspend", "admin", addressOf("admin"))).toContain("adjudicator or court");
    expect(await refused("guardian", "role", "suspend", "adjudicator", addressOf("payer"))).toContain(
      "is not adjudicator",
    );
    expect(await refused("developer", "role", "suspend", "adjudicator", adjudicator)).toContain("Only the guardian");
    await as("guardian", "role", "suspend", "adjudicator", adjudicator, "--yes");
    expect((await manager.hasRole(ROLES.adjudicator, adjudicator)).isMember).toBe(false);
    expect((await as("payer", "role", "list")).map(({ role }: { role: string }) => role)).not.toContain("adjudicator");

    const grant = JSON.stringify([Number(ROLES.adjudicator), adjudicator, 0]);
    const back = ["--contract", "manager", "--method", "grantRole", "--arguments", grant, "--yes"];
    const { operation } = await as("admin", "operation", "schedule", ...back);
    await passTime(chain, 8 * DAY);
    await as("admin", "operation", "execute", operation, "--yes");
    expect(await as("payer", "role", "list")).toContainEqual({
      role: "adjudicator",
      account: adjudicator,
      delaySeconds: 0,
    });
    expect(await as("payer", "role", "list")).toContainEqual({
      role: "admin",
      account: addressOf("admin"),
      delaySeconds: 8 * DAY,
    });
  });

  it("an operator is suspended at once", async () => {
    await as("guardian", "operator", "suspend", addressOf("payer"), "--yes");
    expect((await deployed.router.operatorLimit(addressOf("payer"))).limit).toBe(0n);
  });
});

it("the insurance account bounds what the platform absorbs", async () => {
  expect(await refused("admin", "insurance", "--set", "100")).toContain(
    `The insurance account is ${addressOf("insurance")}`,
  );
  await as("insurance", "insurance", "--set", "100", "--yes");
  expect(await as("admin", "insurance")).toEqual({
    insurance: addressOf("insurance"),
    allowanceUsd: "100.00",
    balanceUsd: "1000.00",
  });
});

// In order: the record that the first leaves behind is read by the second.
describe.each([
  { seat: "treasury", successor: "circle" },
  { seat: "insurance", successor: "deployer" },
] as const)("the $seat", ({ seat, successor }) => {
  it("is replaced by the account that the admin proposed, once it accepts", async () => {
    const { chain } = deployed;
    const account = addressOf(successor);
    expect(await refused(successor, seat, "--accept")).toContain("Nobody has been proposed");
    expect(await refused("admin", seat, "--propose", addressOf(seat))).toContain("already");
    const { operation } = await as("admin", seat, "--propose", account, "--yes");
    await passTime(chain, 8 * DAY);
    await as("admin", "operation", "execute", operation, "--yes");
    expect(await refused("admin", seat, "--accept")).toContain(`this was proposed to ${account}`);
    await as(successor, seat, "--accept", "--yes");
    expect((await as("payer", seat))[seat]).toBe(account);

    const { stdout } = await chain.task(["check-deployment", "--network", "base", "--json"], "payer");
    const subjects = JSON.parse(stdout).differences.map(({ subject }: { subject: string }) => subject);
    expect(
      subjects.filter((subject: string) => /treasury|insurance|beneficiary|bytecode|address/.test(subject)),
    ).toEqual([]);
    const { stdout: listed } = await chain.task(["deployments", "--json"], "payer");
    expect(JSON.parse(listed)).toMatchObject([{ sameCode: true }]);
  });
});

describe("a slash", () => {
  let tool: string;
  let file: string;

  const terms = {
    amountUsd: "20",
    evidenceHash: id("what happened"),
    reporter: addressOf("operator"),
    refunds: [
      { payer: addressOf("payer"), amountUsd: "7.50" },
      { payer: addressOf("circle"), amountUsd: "0.5" },
    ],
  };

  beforeAll(async () => {
    ({ tool } = await as("developer", "list-tool", "--name", "cheat", "--price", "0.30", "--yes"));
    file = join(deployed.chain.folder, "slash.json");
    writeFileSync(file, JSON.stringify(terms));
  });

  it("a file that is wrong is refused with the place in it", async () => {
    const wrong = join(deployed.chain.folder, "wrong.json");
    writeFileSync(wrong, JSON.stringify({ ...terms, refunds: [{ payer: addressOf("payer"), amountUsd: "-1" }] }));
    expect(await refused("adjudicator", "slash", "propose", tool, "--terms", wrong)).toContain(
      "refunds.0.amountUsd is wrong",
    );
  });

  it("a proposal is shown with its refunds, can be vetoed, and can be dismissed", async () => {
    for (const [person, ...drop] of [
      ["adjudicator", "slash", "dismiss"],
      ["guardian", "slash", "veto"],
    ] as const) {
      await as("adjudicator", "slash", "propose", tool, "--terms", file, "--yes");
      expect((await as("payer", "slash", "show", tool)).slash).toMatchObject({
        state: "waiting for the developer's answer",
        amountUsd: "20.00",
        reporter: addressOf("operator"),
        refunds: [{ amountUsd: "7.50" }, { amountUsd: "0.50" }],
      });
      await as(person, ...drop, tool, "--yes");
      expect(await as("payer", "slash", "show", tool)).toMatchObject({ tool, slash: null });
    }
    expect(await refused("guardian", "slash", "veto", tool)).toContain("nothing to veto");
  });

  it("nothing is proposed for eight days after a veto", async () => {
    const { vetoedUntil } = await as("payer", "slash", "show", tool);
    expect(vetoedUntil).toBeGreaterThan(0);
    expect(await refused("adjudicator", "slash", "propose", tool, "--terms", file)).toContain(
      "the guardian vetoed a slash",
    );
    await passTime(deployed.chain, 8 * DAY);
    expect(await as("payer", "slash", "show", tool)).toEqual({ tool, slash: null, vetoedUntil: null });
  });

  it("it is executed after its delay with the terms proposed, and refunds come before bounty and insurance", async () => {
    const { chain, staking, usdc } = deployed;
    await as("adjudicator", "slash", "propose", tool, "--terms", file, "--yes");
    expect(await refused("adjudicator", "slash", "execute", tool, "--terms", file)).toContain(
      "the developer can answer",
    );
    await passTime(chain, 3 * DAY);

    const other = join(chain.folder, "other.json");
    writeFileSync(other, JSON.stringify({ ...terms, amountUsd: "21" }));
    expect(await refused("adjudicator", "slash", "execute", tool, "--terms", other)).toContain(
      "these are not the terms that were proposed",
    );
    await as("adjudicator", "slash", "execute", tool, "--terms", file, "--yes");
    expect(await as("developer", "tool", tool)).toMatchObject({ stakeUsd: "10.00", payable: false });
    expect(await staking.creditOf(addressOf("circle"))).toBe(500_000n);
    expect(await staking.creditOf(addressOf("operator"))).toBe(2_000_000n);
    expect(await staking.creditOf(await staking.insurance())).toBe(10_000_000n);

    const before = await usdc.balanceOf(addressOf("payer"));
    expect(await as("payer", "claim", "--yes")).toMatchObject({ amountUsd: "7.50" });
    expect((await usdc.balanceOf(addressOf("payer"))) - before).toBe(7_500_000n);
  });
});
