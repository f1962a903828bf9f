import { id, ZeroHash } from "ethers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mined } from "../../scripts/world/mined.ts";
import { encodeRows } from "../../settlement/chain/router/encodeRows.ts";
import { toolIdFromUuid } from "../../settlement/domain/toolId.ts";
import { addressOf, fail, passTime, startDeployedChain, succeed } from "./chain.ts";

const DAY = 24 * 60 * 60;

// One developer's life, in order: each claim stands on what the ones before it did.
describe("a developer's life", () => {
  let deployed: Awaited<ReturnType<typeof startDeployedChain>>;
  let tool: string;

  const developer = addressOf("developer");
  const status = () => as("tool", tool);
  const as = (...command: string[]) => succeed(deployed.chain, "developer", ...command);
  const refused = (...command: string[]) => fail(deployed.chain, "developer", ...command);

  beforeAll(async () => {
    deployed = await startDeployedChain();
  });

  afterAll(() => deployed.chain.stop());

  it("a stake below what the price needs is refused before anything is approved", async () => {
    expect(await refused("list-tool", "--name", "weather", "--price", "0.20", "--stake", "19.99")).toBe(
      "Stake is 19.99, this price needs 20.00: use --stake 20.00 or a lower --price. Nothing was sent.",
    );
    expect(await deployed.usdc.allowance(developer, deployed.staking)).toBe(0n);
  });

  it("what is typed wrong is said first, whatever else stands in the way", async () => {
    // An account without any USDC.
    const poor = (...command: string[]) => fail(deployed.chain, "treasury", ...command);
    expect(await poor("list-tool", "--name", "", "--price", "0.10")).toContain("--name is empty: give it a value");
    expect(await poor("list-tool", "--name", "a", "--price", "ten")).toContain('--price is wrong: "ten" is not');
    expect(await poor("list-tool", "--name", "a", "--price", "1", "--stake", "x")).toContain("--stake is wrong");
  });

  it("list-tool approves, lists and stakes what the price needs, and leaves no allowance behind", async () => {
    const { chain, usdc, staking } = deployed;
    const listing = ["list-tool", "--name", "weather", "--price", "0.10", "--network", "base"];
    const { code, stdout } = await chain.hardhat(listing, { as: "developer", input: "y\n" });
    expect(code).toBe(0);
    expect(stdout).toContain('List "weather" at 0.10 USDC per use and stake 10.00 USDC for it.');
    expect(stdout).toContain("approve 10.00 USDC");
    expect(stdout).toMatch(/at most 0\.\d+ ETH/);
    tool = /Listed as ([0-9a-f-]{36})\./.exec(stdout)?.[1] ?? "";
    expect((await staking.tool(toolIdFromUuid(tool))).stake).toBe(10_000_000n);
    expect(await usdc.allowance(developer, staking)).toBe(0n);
  });

  it("the same name again is the same tool, and is refused", async () => {
    expect(await refused("list-tool", "--name", "weather", "--price", "0.10")).toBe(
      `"weather" is listed already, as ${tool}: choose another --name. Nothing was sent.`,
    );
  });

  it("a settled charge shows as earned and claimable", async () => {
    const { chain, router, usdc } = deployed;
    await mined(usdc.connect(chain.wallet("payer")).approve(router, 100_000_000n));
    expect(await succeed(chain, "operator", "bond", "post", "--yes")).toMatchObject({ bonded: true });
    const rows = encodeRows([
      { payer: addressOf("payer") as `0x${string}`, modelCost: 0n, lines: [{ toolIndex: 0, amount: 2_000_000n }] },
    ]);
    const operator = router.connect(chain.wallet("operator"));
    await mined(operator.settle(ZeroHash, id("first batch"), [toolIdFromUuid(tool)], rows));
    expect(await status()).toMatchObject({ earnedUsd: "1.80", claimableUsd: "1.80", payable: true });
  });

  it("a price above what the stake allows is refused with the amount that is missing", async () => {
    expect(await refused("set-price", tool, "--price", "0.50")).toBe(
      `Stake is 10.00, this price needs 50.00: run stake ${tool} --amount 40.00. Nothing was sent.`,
    );
  });

  it("after exactly that stake, the price goes through", async () => {
    expect(await as("stake", tool, "--amount", "40.00", "--yes")).toMatchObject({ stakeUsd: "50.00" });
    expect(await as("set-price", tool, "--price", "0.50", "--yes")).toMatchObject({ priceUsd: "0.50" });
    expect(await status()).toMatchObject({ priceUsd: "0.50", stakeUsd: "50.00", requiredStakeUsd: "50.00" });
  });

  it("a step that fails after another was sent says why, and what was sent", async () => {
    const { chain, usdc, staking } = deployed;
    await chain.provider.send("evm_setAutomine", [false]);
    const command = ["stake", tool, "--amount", "1", "--network", "base", "--yes"];
    const { printed, ended } = chain.start(command, { as: "developer" });
    await printed("waiting for a block");
    // Mined in the same block as the approval and behind it.
    const blacklisting = await usdc.blacklist(developer);
    await chain.provider.send("evm_setAutomine", [true]);
    await chain.provider.send("evm_mine", []);
    await mined(blacklisting);
    const { code, stderr } = await ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^Stake 1\.00 USDC would fail: the token says "Blacklistable: account is blacklisted"\. Sent so far: 0x[0-9a-f]{64}\.$/m,
    );
    await mined(usdc.unBlacklist(developer));
    await mined(usdc.connect(chain.wallet("developer")).approve(staking, 0n));
  });

  it("a stake larger than the balance is refused with the difference", async () => {
    expect(await refused("stake", tool, "--amount", "2000")).toBe(
      `${developer} has 950.00 USDC and 2000.00 are needed: send it 1050.00 more. Nothing was sent.`,
    );
  });

  it("somebody else cannot change the tool, and is told whose it is", async () => {
    const sentence = await fail(deployed.chain, "payer", "set-price", tool, "--price", "0.01");
    expect(sentence).toContain(`the tool belongs to ${developer}, not to ${addressOf("payer")}`);
  });

  it("a withdrawal is requested, cancelled and requested again", async () => {
    await as("request-withdrawal", tool, "--amount", "20", "--yes");
    expect(await status()).toMatchObject({ stakeUsd: "30.00", payable: false, withdrawal: { amountUsd: "20.00" } });
    await as("cancel-withdrawal", tool, "--yes");
    expect(await status()).toMatchObject({ stakeUsd: "50.00", payable: true, withdrawal: null });
    const { readyAt } = await as("request-withdrawal", tool, "--amount", "50", "--yes");
    expect((await status()).withdrawal).toEqual({ amountUsd: "50.00", readyAt });
  });

  it("a second request is refused with the date of the first", async () => {
    expect(await refused("request-withdrawal", tool, "--amount", "1")).toMatch(
      /50\.00 USDC are on their way out already, ready at \d{4}-\d\d-\d\d \d\d:\d\d UTC/,
    );
  });

  it("the stake cannot be withdrawn before 7 days, and can after", async () => {
    const { chain, usdc } = deployed;
    await passTime(chain, 7 * DAY - 3_600);
    expect(await refused("withdraw", tool)).toMatch(/the withdrawal is ready at .* UTC: run withdraw then/);
    await passTime(chain, 3_600);
    const before = await usdc.balanceOf(developer);
    expect(await as("withdraw", tool, "--yes")).toMatchObject({ amountUsd: "50.00", to: developer });
    expect((await usdc.balanceOf(developer)) - before).toBe(50_000_000n);
    expect(await refused("withdraw", tool)).toContain("run request-withdrawal first");
  });

  it("earnings are claimed to an account of choice, once", async () => {
    const to = addressOf("treasury");
    const before = await deployed.usdc.balanceOf(to);
    expect(await as("claim", "--to", to, "--yes")).toMatchObject({ amountUsd: "1.80", to });
    expect((await deployed.usdc.balanceOf(to)) - before).toBe(1_800_000n);
    expect(await refused("claim")).toContain(`${developer} has nothing to claim`);
  });

  it("my-tools shows the tool to its owner and to anybody who asks, and nobody else's", async () => {
    expect(await as("my-tools")).toMatchObject([{ tool, stakeUsd: "0.00", earnedUsd: "1.80" }]);
    expect(await succeed(deployed.chain, "payer", "my-tools", "--account", developer)).toHaveLength(1);
    expect(await succeed(deployed.chain, "payer", "my-tools")).toEqual([]);
  });

  it("an id that is no UUID, an amount that is none and a tool that is not there are explained", async () => {
    expect(await refused("tool", "weather")).toContain('"weather" is not a tool; write its UUID');
    expect(await refused("stake", tool, "--amount", "1,5")).toContain(
      '"1,5" is not an amount; write dollars with digits and one point',
    );
    expect(await refused("tool", "3f2a9c1e-0b7d-8c45-9e10-5a6b7c8d9e0f")).toContain("There is no tool 3f2a9c1e");
  });

  it("--json without --yes asks nothing and sends nothing", async () => {
    const { code, stdout } = await deployed.chain.hardhat(
      ["stake", tool, "--amount", "1", "--network", "base", "--json"],
      { as: "developer", input: "y\n" },
    );
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ error: "--json asks no questions: add --yes. Nothing was sent." });
  });
});
