import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { id } from "ethers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROLES } from "../../scripts/deploy/protocol.ts";
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
    expect(await refused("admin", "set-parameters", "--stake-multiplier", "1001")).toContain("has to be 1 to 1000");
    const scheduled = await as("admin", "set-parameters", "--minimum-stake", "12.50", "--yes");
    await passTime(deployed.chain, 8 * DAY);
    await as("admin", "operation", "execute", scheduled.operation, "--yes");
    expect(await as("admin", "parameters")).toEqual({
      minimumStakeUsd: "12.50",
      stakeMultiplier: 100,
      bountyBps: 1000,
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

  it("whoever is not the admin is told who is", async () => {
    expect(await refused("contributor", "operator", "remove", newcomer)).toBe(
      `Only the admin may do this, and ${addressOf("contributor")} is not: use the key of ${addressOf("admin")} ` +
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
    await (await chain.wallet("admin").sendTransaction({ to, data })).wait();
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
    ({ tool } = await as("contributor", "list-tool", "--name", "cheat", "--price", "0.30", "--yes"));
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
      ["guardian", "slash", "veto"],
      ["adjudicator", "slash", "dismiss"],
    ] as const) {
      await as("adjudicator", "slash", "propose", tool, "--terms", file, "--yes");
      expect((await as("payer", "slash", "show", tool)).slash).toMatchObject({
        state: "waiting for the developer's answer",
        amountUsd: "20.00",
        reporter: addressOf("operator"),
        refunds: [{ amountUsd: "7.50" }, { amountUsd: "0.50" }],
      });
      await as(person, ...drop, tool, "--yes");
      expect(await as("payer", "slash", "show", tool)).toEqual({ tool, slash: null });
    }
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
    expect(await as("contributor", "tool", tool)).toMatchObject({ stakeUsd: "10.00", payable: false });
    expect(await staking.creditOf(addressOf("circle"))).toBe(500_000n);
    expect(await staking.creditOf(addressOf("operator"))).toBe(2_000_000n);
    expect(await staking.creditOf(addressOf("insurance"))).toBe(10_000_000n);

    const before = await usdc.balanceOf(addressOf("payer"));
    expect(await as("payer", "claim", "--yes")).toMatchObject({ amountUsd: "7.50" });
    expect((await usdc.balanceOf(addressOf("payer"))) - before).toBe(7_500_000n);
  });
});
