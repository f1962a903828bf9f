import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { hashJson, signAnswer } from "../../../marketplace/toolkit/index.ts";
import { connectProtocol } from "../../../scripts/protocol/connectProtocol.ts";
import { createKeptReceipts } from "../../../scripts/receipts/keptReceipts.ts";
import { toolIdFromUuid } from "../../../settlement/domain/toolId.ts";
import { addressOf, type Chain, deployCommand, placeUsdcAndShare, startChain } from "../chain.ts";
import { openService, type TestService } from "../testService.ts";
import { blocksOf, createReader, type Reader } from "./createReader.ts";
import { type ResidentHardhat, startResidentHardhat } from "./residentHardhat.ts";

// The page begins where a tool is listed and a court is one. The tool's answers, which the page has in files, are signed here
// when it comes to them.

const TOOL = "7baa3032-b055-8856-a5cb-06c697e545a2";
const account = privateKeyToAccount(`0x${"11".repeat(32)}`);

let chain: Chain;
let hardhat: ResidentHardhat;
let reader: Reader;
let court: Address;
let service: TestService;

beforeAll(async () => {
  chain = await startChain();
  hardhat = await startResidentHardhat();
  reader = createReader(chain, hardhat);
  await placeUsdcAndShare(chain);
  const run = async (as: "deployer" | "developer" | "operator" | "payer", ...command: string[]) => {
    const { code, stdout, stderr } = await chain.task([...command, "--json", "--yes"], as);
    if (code !== 0) throw new Error(`${command.join(" ")} failed: ${stdout}${stderr}`);
    return JSON.parse(stdout);
  };
  const onLocal = deployCommand.map((word) => (word === "base" ? "local" : word));
  const { addresses } = await run("deployer", ...onLocal);
  const { router } = connectProtocol(addresses, chain.provider);
  court = addresses.schemaCourt;
  const listing = ["list-tool", "--name", "weather", "--price", "0.10", "--network", "local"];
  expect(await run("developer", ...listing, "--from", addressOf("developer"))).toMatchObject({ tool: TOOL });
  await run("operator", "bond", "post", "--network", "local", "--from", addressOf("operator"));
  await run("payer", "cap", "--set", "50", "--network", "local", "--from", addressOf("payer"));
  service = await openService(router, chain.wallet("operator"));
});

afterAll(async () => {
  reader?.leave();
  hardhat?.stop();
  await chain?.stop();
});

it("a tool promises, is held to it, and can be by anybody who follows the page", async () => {
  expect(blocksOf("court").length).toBeGreaterThan(3);
  await reader.walk(
    "court",
    { COURT: court },
    {
      before: async (script) => {
        if (script.includes("kept.json")) await sign("kept.json", { price: 1 });
        if (!script.includes("claim")) return;
        await sign("broken.json", { price: -1 });
        await pay("broken.json");
      },
    },
  );
});

// The payer is charged for the call, and keeps the receipt where the page has it.
async function pay(file: string): Promise<void> {
  const call = service.charge(addressOf("payer"), toolIdFromUuid(TOOL), 100_000n, { id: hashJson(file) });
  const batchId = await service.settle([call]);
  createKeptReceipts(join(reader.folder, "receipts")).keep(batchId, service.answers.get(batchId) as never);
}

async function sign(file: string, content: unknown): Promise<void> {
  const schema = JSON.parse(readFileSync(join(reader.folder, "schema.json"), "utf8"));
  const block = await chain.provider.getBlock("latest");
  const answer = await signAnswer(
    { method: "quote", args: {}, chargeId: hashJson(file), content, schema },
    { toolId: TOOL, account, court: { chainId: 8453, address: court }, nowMs: () => (block?.timestamp ?? 0) * 1_000 },
  );
  writeFileSync(join(reader.folder, file), JSON.stringify({ schema, content, answer }));
}
