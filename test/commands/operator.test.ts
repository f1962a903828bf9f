import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOf, fail, passTime, startDeployedChain, succeed } from "./chain.ts";

const DELAY_SECONDS = 21 * 24 * 60 * 60;

describe("an operator's bond", () => {
  let deployed: Awaited<ReturnType<typeof startDeployedChain>>;
  const operator = addressOf("operator");
  const as = (...command: string[]) => succeed(deployed.chain, "operator", ...command);
  const show = () => as("bond", "show", "--operator", operator);

  beforeAll(async () => {
    deployed = await startDeployedChain();
  });

  afterAll(() => deployed.chain.stop());

  it("is missing after a deployment, and bond show says how much", async () => {
    expect(await show()).toEqual({
      operator,
      pledgedUsd: "0.00",
      neededUsd: "1000.00",
      leavingUsd: "0.00",
      readyAt: 0,
      owner: operator,
      bonded: false,
    });
  });

  it("is posted as far as it is missing, unless an amount is named", async () => {
    expect(await as("bond", "post", "--amount", "400", "--yes")).toMatchObject({ pledgedUsd: "400.00", bonded: false });
    expect(await as("bond", "post", "--yes")).toMatchObject({ pledgedUsd: "1000.00", bonded: true });
    expect(await fail(deployed.chain, "operator", "bond", "post", "--yes")).toContain("is enough for its limit");
  });

  it("belongs to a cold key once the operator has said so", async () => {
    const owner = addressOf("treasury");
    expect(await as("bond", "owner", "--to", owner, "--yes")).toMatchObject({ operator, owner });
    expect(await fail(deployed.chain, "operator", "bond", "request", "--amount", "1", "--yes")).toContain(
      `the bond belongs to ${owner}`,
    );
  });

  it("leaves 21 days after it was asked back, and stops the operator at once", async () => {
    const asOwner = (...command: string[]) =>
      succeed(deployed.chain, "treasury", ...command, "--operator", operator, "--yes");
    expect(await asOwner("bond", "request", "--amount", "250.50")).toMatchObject({
      amountUsd: "250.50",
      bonded: false,
    });
    expect(await fail(deployed.chain, "treasury", "bond", "withdraw", "--operator", operator, "--yes")).toContain(
      "the bond can leave from",
    );
    await passTime(deployed.chain, DELAY_SECONDS);
    expect(await asOwner("bond", "withdraw")).toMatchObject({ to: addressOf("treasury"), amountUsd: "250.50" });
    expect(await show()).toMatchObject({ pledgedUsd: "749.50", leavingUsd: "0.00", bonded: false });
    expect(await fail(deployed.chain, "treasury", "bond", "withdraw", "--operator", operator, "--yes")).toContain(
      "nothing of the bond",
    );
  });
});
