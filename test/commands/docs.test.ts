import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Chain, startChain } from "./chain.ts";
import { blocksOf, createReader, type Reader } from "./pages.ts";

let chain: Chain;
let reader: Reader;
let deployed: string;

beforeAll(async () => {
  chain = await startChain();
  reader = createReader(chain);
  await reader.walk("deployer");
  deployed = await chain.provider.send("evm_snapshot", []);
});

afterAll(async () => {
  reader?.leave();
  await chain.stop();
});

describe("the pages", () => {
  it("the deployer's page leaves a deployment behind", () => {
    expect(JSON.parse(readFileSync(join(chain.folder, "deployments", "local.json"), "utf8")).chainId).toBe(8453);
  });

  it.each(["bond", "developer", "payer", "governance"])("the page %s does what it says", async (page) => {
    await chain.provider.send("evm_revert", [deployed]);
    deployed = await chain.provider.send("evm_snapshot", []);
    await reader.walk(page);
  });

  it.each(["deployer", "bond", "developer", "payer", "governance"])("the page %s has something to run", (page) => {
    expect(blocksOf(page).length).toBeGreaterThan(2);
  });
});
