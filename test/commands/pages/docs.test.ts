import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Chain, startChain } from "../chain.ts";
import { blocksOf, createReader, type Reader } from "./createReader.ts";
import { type ResidentHardhat, startResidentHardhat } from "./residentHardhat.ts";

let chain: Chain;
let hardhat: ResidentHardhat;
let readers: { programs: Reader; resident: Reader };
let deployed: string;

beforeAll(async () => {
  chain = await startChain();
  hardhat = await startResidentHardhat();
  readers = { programs: createReader(chain), resident: createReader(chain, hardhat) };
  await readers.programs.walk("deployer");
  deployed = await chain.provider.send("evm_snapshot", []);
});

afterAll(async () => {
  for (const reader of Object.values(readers ?? {})) reader.leave();
  hardhat?.stop();
  await chain?.stop();
});

describe("the pages", () => {
  it("the deployer's page leaves a deployment behind", () => {
    expect(JSON.parse(readFileSync(join(chain.folder, "deployments", "local.json"), "utf8")).chainId).toBe(8453);
  });

  // That commands work as programs and ask before they send is shown by whoever deploys, and by deploy.test.ts.
  it.each(["bond", "developer", "payer", "governance"])("the page %s does what it says", async (page) => {
    await chain.provider.send("evm_revert", [deployed]);
    deployed = await chain.provider.send("evm_snapshot", []);
    await readers.resident.walk(page);
  });

  it.each(["deployer", "bond", "developer", "payer", "governance"])("the page %s has something to run", (page) => {
    expect(blocksOf(page).length).toBeGreaterThan(2);
  });
});
