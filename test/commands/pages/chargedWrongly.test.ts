import { afterAll, beforeAll, expect, it } from "vitest";
import { connectProtocol } from "../../../scripts/protocol/connectProtocol.ts";
import { toolIdFromUuid } from "../../../settlement/domain/toolId.ts";
import { addressOf, type Chain, deployCommand, placeUsdcAndShare, startChain } from "../chain.ts";
import { API_KEY, openService, serveReceipts } from "../testService.ts";
import { blocksOf, createReader, type Reader } from "./createReader.ts";
import { type ResidentHardhat, startResidentHardhat } from "./residentHardhat.ts";

// The page begins where a payer was charged in three batches, and two of them are not as they should be.

let chain: Chain;
let hardhat: ResidentHardhat;
let reader: Reader;
let market: Awaited<ReturnType<typeof serveReceipts>>;

beforeAll(async () => {
  chain = await startChain();
  hardhat = await startResidentHardhat();
  reader = createReader(chain, hardhat);
  const usdc = await placeUsdcAndShare(chain);
  const run = async (as: "deployer" | "operator" | "payer" | "developer", ...command: string[]) => {
    const { code, stdout, stderr } = await chain.task([...command, "--json", "--yes"], as);
    if (code !== 0) throw new Error(`${command.join(" ")} failed: ${stdout}${stderr}`);
    return JSON.parse(stdout);
  };
  const onLocal = deployCommand.map((word) => (word === "base" ? "local" : word));
  const { router } = connectProtocol((await run("deployer", ...onLocal)).addresses, chain.provider);
  const sending = (person: Parameters<typeof addressOf>[0]) => ["--network", "local", "--from", addressOf(person)];
  await run("operator", "bond", "post", ...sending("operator"));
  await run("payer", "cap", "--set", "50", ...sending("payer"));
  const listing = ["list-tool", "--name", "maps", "--price", "0.10", ...sending("developer")];
  const tool = toolIdFromUuid((await run("developer", ...listing)).tool);

  const service = await openService(router, chain.wallet("operator"));
  market = await serveReceipts(service);
  const payer = addressOf("payer");
  const dear = service.charge(payer, tool, 3_000_000n);
  await service.settle([dear, service.charge(payer, tool, 100_000n)]);
  await service.settle([service.charge(payer, tool, 100_000n)], { modelCost: 5_000_000n, tools: [[tool, 100_000n]] });
  await service.settle([{ ...dear, attempts: 1 }]);
  expect(await usdc.balanceOf(payer)).toBe(1_000_000_000n - 11_200_000n);
});

afterAll(async () => {
  reader?.leave();
  hardhat?.stop();
  await market?.stop();
  await chain?.stop();
});

it("whoever was charged wrongly gets it back by following the page", async () => {
  expect(blocksOf("charged-wrongly").length).toBeGreaterThan(2);
  await reader.walk("charged-wrongly", { MARKETPLACE_URL: market.url, MARKETPLACE_API_KEY: API_KEY });
});
