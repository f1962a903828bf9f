import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type MarketPrograms, startMarket } from "../../../scripts/marketplace/startMarket.ts";
import { type Program, startProgram } from "../../../scripts/process/startProgram.ts";
import { connectProtocol } from "../../../scripts/protocol/connectProtocol.ts";
import { type FrontDoor, startFrontDoor } from "../../marketplace/startFrontDoor.ts";
import { type Chain, deployCommand, placeUsdcAndShare, startChain } from "../chain.ts";
import { makePath } from "./createReader.ts";
import { type ResidentHardhat, startResidentHardhat } from "./residentHardhat.ts";

// The page is followed as a reader would: a `ts` block with a name is a file, `sh serve` runs on in a terminal of its own,
// every other `sh` block is run to its end, and the lines of a `text` block are what it must print.
const page = readFileSync("docs/offer-a-tool.md", "utf8");

// Inside the project, so that the toolkit is found, but where files that the page writes are in nobody's way.
mkdirSync("cache", { recursive: true });
const workplace = mkdtempSync(resolve("cache", "offer-a-tool-"));
const servers: Program[] = [];
let chain: Chain;
let hardhat: ResidentHardhat;
let door: FrontDoor;
let market: MarketPrograms;

beforeAll(async () => {
  hardhat = await startResidentHardhat();
  chain = await startChain();
  await placeUsdcAndShare(chain);
  const onLocal = deployCommand.map((word) => (word === "base" ? "local" : word));
  const { stdout } = await chain.task([...onLocal, "--json"], "deployer");
  const { router } = connectProtocol(JSON.parse(stdout).addresses, chain.provider);
  door = await startFrontDoor();
  const options = { serviceToken: "service-token-of-the-tests-0123456789", publicUrl: door.url };
  market = await startMarket({ chainId: 8453, url: chain.url, router }, workplace, options);
  door.open(market.url);
});

afterAll(async () => {
  for (const server of servers) await server.stop();
  await market?.stop();
  await door?.close();
  await chain?.stop();
  hardhat?.stop();
  rmSync(workplace, { recursive: true, force: true });
});

it("a tool is offered by following the page", async () => {
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    NO_COLOR: "1",
    PATH: makePath(workplace, hardhat),
    LOCAL_RPC_URL: chain.url,
    DEPLOYMENTS_FOLDER: join(chain.folder, "deployments"),
    MARKETPLACE_URL: door.url,
  };
  const run = (script: string) =>
    startProgram("bash", ["-euo", "pipefail", "-c", script], { cwd: workplace, env: environment });
  let printed: () => string = () => "";
  let blocks = 0;
  for (const [, kind = "", name = "", body = ""] of page.matchAll(/^```(ts|sh|text) ?(.*?)\n(.*?)^```$/gms)) {
    if (kind === "ts") {
      if (name !== "") writeFileSync(join(workplace, name), body);
      continue;
    }
    blocks++;
    if (kind === "sh" && name === "serve") {
      const server = run(`exec ${body}`);
      servers.push(server);
      const [said = "", url = ""] = await server.printed(/Serving (http\S+)/);
      environment.TOOL_URL = url;
      // The page shows one port, and here it is whichever was free.
      printed = () => said.replace(/:\d+/, ":4000");
    } else if (kind === "sh") {
      const program = run(body);
      const { code } = await program.ended;
      expect(code, `${body}\n${program.output()}`).toBe(0);
      printed = program.output;
    } else {
      for (const line of body.trimEnd().split("\n")) expect(printed()).toContain(line);
    }
  }
  expect(blocks).toBeGreaterThan(10);
});
