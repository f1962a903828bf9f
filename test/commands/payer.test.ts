import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { recoverAddress } from "ethers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOf, fail, passTime, startDeployedChain, succeed } from "./chain.ts";

// One payer, in order: each claim stands on what the ones before it did.
describe("a payer", () => {
  let deployed: Awaited<ReturnType<typeof startDeployedChain>>;
  let permit: string;

  const payer = addressOf("payer");
  const as = (...command: string[]) => succeed(deployed.chain, "payer", ...command);
  const refused = (...command: string[]) => fail(deployed.chain, "payer", ...command);

  beforeAll(async () => {
    deployed = await startDeployedChain();
    permit = join(deployed.chain.folder, "permit.json");
  });

  afterAll(() => deployed.chain.stop());

  it("the cap is shown, set, raised and lowered", async () => {
    expect(await as("cap")).toEqual({ payer, capUsd: "0.00" });
    expect(await as("cap", "--set", "50", "--yes")).toMatchObject({ capUsd: "50.00" });
    expect(await as("cap", "--raise", "25.50", "--yes")).toMatchObject({ capUsd: "75.50" });
    expect(await as("cap", "--lower", "5.5", "--yes")).toMatchObject({ capUsd: "70.00" });
    expect(await deployed.usdc.allowance(payer, deployed.router)).toBe(70_000_000n);
  });

  it("a cap cannot be lowered below zero, nor set and raised at once", async () => {
    expect(await refused("cap", "--lower", "70.01")).toBe(
      "The cap is only 70.00 USDC: use --set 0 to take it away. Nothing was sent.",
    );
    expect(await refused("cap", "--set", "1", "--raise", "1")).toContain("Only one of --set, --raise and --lower");
  });

  it("a signed permit costs the payer no transaction and is sent by somebody else", async () => {
    const { chain } = deployed;
    const before = await chain.provider.getTransactionCount(payer);
    await as("cap", "--set", "20", "--permit", permit, "--yes");
    expect(await as("cap")).toMatchObject({ capUsd: "70.00" });
    expect(await succeed(chain, "operator", "send-permit", permit, "--yes")).toMatchObject({ payer, capUsd: "20.00" });
    expect(await chain.provider.getTransactionCount(payer)).toBe(before);
  });

  it("a permit cannot be sent twice", async () => {
    expect(await fail(deployed.chain, "operator", "send-permit", permit)).toContain('the token says "EIP2612: invalid');
  });

  it("a permit for another spender or an unreadable one is not sent", async () => {
    const forged = { ...JSON.parse(readFileSync(permit, "utf8")), spender: addressOf("operator") };
    writeFileSync(permit, JSON.stringify(forged));
    expect(await fail(deployed.chain, "operator", "send-permit", permit)).toContain("which is not our router");
    writeFileSync(permit, "{}");
    expect(await fail(deployed.chain, "operator", "send-permit", permit)).toContain("is not a permit");
    expect(await fail(deployed.chain, "operator", "send-permit", `${permit}.lost`)).toContain("There is no file");
    expect(await fail(deployed.chain, "operator", "send-permit", deployed.chain.folder)).toContain("is not a file");
  });

  it("a permit is written into a new file or over another permit, and what is wrong is said before it is signed", async () => {
    const { folder } = deployed.chain;
    const into = (path: string) => refused("cap", "--set", "30", "--permit", path);
    expect(await into(folder)).toContain(`--permit is ${folder}, which is not a file: name one`);
    expect(await into(join(folder, "no", "permit.json"))).toContain(`there is no folder ${join(folder, "no")}`);
    expect(await into(permit)).toContain("which holds something else: name a new file");
    expect(readFileSync(permit, "utf8")).toBe("{}");
    rmSync(permit);
  });

  it("an amount that is none is named with its option", async () => {
    expect(await refused("cap", "--set", "many")).toContain('--set is wrong: "many" is not an amount');
  });

  it("a permit ends after a day", async () => {
    await as("cap", "--set", "30", "--permit", permit, "--yes");
    await passTime(deployed.chain, 24 * 60 * 60 + 60);
    expect(await fail(deployed.chain, "operator", "send-permit", permit)).toMatch(/ended at .* UTC: ask for a new one/);
  });

  it("the daily cap is set, shown and lifted, and bounds what is spendable", async () => {
    expect(await as("daily-cap")).toEqual({ payer, dailyCapUsd: null, leftUsd: null });
    await as("daily-cap", "--set", "5", "--yes");
    expect(await as("daily-cap")).toEqual({ payer, dailyCapUsd: "5.00", leftUsd: "5.00" });
    expect(await as("spendable")).toEqual({
      payer,
      spendableUsd: "5.00",
      balanceUsd: "1000.00",
      capUsd: "20.00",
      dailyCapLeftUsd: "5.00",
    });
    expect(await refused("daily-cap", "--set", "0")).toContain("use --lift for that");
    await as("daily-cap", "--lift", "--yes");
    expect(await as("spendable")).toMatchObject({ spendableUsd: "20.00", dailyCapLeftUsd: null });
  });

  it("consent is demanded at once, and a budget is signed without a transaction", async () => {
    const { chain, router } = deployed;
    const into = join(chain.folder, "budget.json");
    expect(await as("consent", "on", "--yes")).toMatchObject({ payer, consentRequired: true });
    expect(await router.consentRequired(payer)).toBe(true);
    const before = await chain.provider.getTransactionCount(payer);
    const { budget, signature } = await as("budget", "sign", "--id", "7", "--max", "2", "--into", into, "--yes");
    expect(budget).toMatchObject({ id: "7", maxSpendUsd: "2.00", tools: [] });
    expect(JSON.parse(readFileSync(into, "utf8"))).toEqual({ budget, signature });
    expect(await chain.provider.getTransactionCount(payer)).toBe(before);
    // What the contract would recover.
    const validUntil = BigInt(Date.parse(budget.validUntil) / 1_000);
    const digest = await router.budgetDigest(payer, 7n, 2_000_000n, validUntil, []);
    expect(recoverAddress(digest, signature)).toBe(payer);
    expect((await as("budget", "sign", "--max", "1", "--yes")).budget.id).not.toBe("7");
  });

  it("a budget that would be refused is not signed", async () => {
    expect(await refused("budget", "sign")).toContain("--max is missing");
    expect(await refused("budget", "sign", "--max", "0")).toContain("--max is 0");
    expect(await refused("budget", "sign", "--max", "1", "--id", "seven")).toContain('--id is "seven"');
    expect(await refused("budget", "sign", "--max", "1", "--hours", "1.5")).toContain('--hours is "1.5"');
    const nowhere = "00000000-0000-8000-8000-000000000000";
    expect(await refused("budget", "sign", "--max", "1", "--tools", nowhere)).toContain(`There is no tool ${nowhere}`);
    expect(await refused("budget", "sign", "--max", "1", "--into", permit)).toContain("holds something else");
  });

  it("a budget is ended once, and nothing more is signed under its id", async () => {
    expect(await as("budget", "show", "7")).toEqual({ payer, budget: "7", maxSpendUsd: null });
    expect(await as("budget", "end", "7", "--yes")).toMatchObject({ budget: "7", endsAt: expect.any(String) });
    expect(await as("budget", "show", "7")).toMatchObject({ spentUsd: "0.00", endsAt: expect.any(String) });
    expect(await refused("budget", "end", "7")).toContain("was ended before");
    expect(await refused("budget", "sign", "--max", "9", "--id", "7")).toContain("leave --id out");
    expect(await as("consent", "off", "--yes")).toMatchObject({ consentRequired: false });
  });

  it("what is deposited leaves the cap alone, and is refunded two days after it was asked back", async () => {
    const { chain, usdc } = deployed;
    const cap = await as("cap");
    expect(await as("deposit", "25", "--yes")).toMatchObject({ payer, prepaidUsd: "25.00" });
    expect(await as("cap")).toEqual(cap);
    expect(await refused("deposit", "1000")).toContain("has 975.00 USDC: deposit less");
    expect(await refused("deposit", "0")).toContain("The amount is 0");
    expect(await refused("refund")).toContain("Nothing was asked back");
    expect(await refused("refund", "--ask", "25.01")).toContain("The prepaid balance is 25.00 USDC");
    expect(await as("refund", "--ask", "10", "--yes")).toMatchObject({ refundingUsd: "10.00" });
    expect(await refused("refund")).toContain("The refund is ready at");
    expect(await as("balance")).toMatchObject({ prepaidUsd: "25.00", refundingUsd: "10.00", consentRequired: false });
    await passTime(chain, 2 * 24 * 60 * 60 + 1);
    const before = await usdc.balanceOf(addressOf("operator"));
    expect(await as("refund", "--to", addressOf("operator"), "--yes")).toMatchObject({ refundedUsd: "10.00" });
    expect((await usdc.balanceOf(addressOf("operator"))) - before).toBe(10_000_000n);
    await as("refund", "--ask", "15", "--yes");
    await passTime(chain, 2 * 24 * 60 * 60 + 1);
    await as("refund", "--yes");
    expect(await as("balance")).toMatchObject({ prepaidUsd: "0.00", readyAt: null });
    await as("deposit", "10", "--yes");
    expect(await as("refund", "--ask", "5", "--yes")).toMatchObject({ readyAt: expect.any(String) });
    expect(await as("refund", "--ask", "0", "--yes")).toMatchObject({ readyAt: null });
  });

  it("a direct payment is taken from the cap and shared with the tool's owner", async () => {
    const { chain, router } = deployed;
    const { tool } = await succeed(chain, "developer", "list-tool", "--name", "maps", "--price", "0.10", "--yes");
    expect(await as("pay", tool, "--amount", "1", "--model-cost", "0.5", "--yes")).toMatchObject({ paidUsd: "1.50" });
    expect(await as("cap")).toMatchObject({ capUsd: "18.50" });
    expect(await router.creditOf(addressOf("developer"))).toBe(900_000n);
    expect(await refused("pay", tool, "--amount", "18.51")).toContain(
      `18.50 USDC can be charged to ${payer} and 18.51 are needed`,
    );
  });
});
