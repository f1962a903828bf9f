import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSiweMessage } from "viem/siwe";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../scripts/client/createClient.ts";
import { requireMeant } from "../../scripts/marketplace/commands/openWallet.ts";
import { type MarketPrograms, startMarket } from "../../scripts/marketplace/startMarket.ts";
import { type FrontDoor, startFrontDoor } from "../marketplace/startFrontDoor.ts";
import { GAS, startTool, structured, type ToolServer } from "../marketplace/startTool.ts";
import { addressOf, fail, type Person, startDeployedChain, succeed } from "./chain.ts";

// The commands at a marketplace and a daemon that are programs of their own, on a chain with the real contracts.
describe("a person without a browser", () => {
  const folder = mkdtempSync(join(tmpdir(), "commands-at-a-marketplace-"));
  let deployed: Awaited<ReturnType<typeof startDeployedChain>>;
  let market: MarketPrograms;
  let door: FrontDoor;
  let server: ToolServer;
  let tool: string;

  const at = () => ["--marketplace", door.url];
  const as = (person: Person, ...command: string[]) => succeed(deployed.chain, person, ...command, ...at());
  const refused = (person: Person, ...command: string[]) => fail(deployed.chain, person, ...command);
  const run = (person: Person, ...command: string[]) =>
    deployed.chain.task([...command, ...at(), "--network", "base"], person);
  const ask: ReturnType<typeof createClient> = (...request) =>
    createClient({ url: door.url, serviceToken: "" })(...request);
  const register = (...options: string[]) => [
    ...["register-tool", tool, "--endpoint", server.url],
    ...["--name", "Gas", "--description", "Gas prices of Base", ...options],
  ];

  beforeAll(async () => {
    deployed = await startDeployedChain();
    const { chain, router } = deployed;
    door = await startFrontDoor();
    const options = { serviceToken: "service-token-of-the-tests-0123456789", publicUrl: door.url };
    market = await startMarket({ chainId: 8453, url: chain.url, router }, folder, options);
    door.open(market.url);
    server = await startTool();
    ({ tool } = await succeed(chain, "developer", "list-tool", "--name", "gas", "--price", "0.10"));
  });

  afterAll(async () => {
    await market?.stop();
    await server?.close();
    await door?.close();
    await deployed?.chain.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  describe("with API keys", () => {
    it("makes one that buys, lists it without showing it, and revokes it", async () => {
      const made = await as("payer", "api-key", "create", "--name", "laptop");
      const account = await ask("GET", "/api/v1/account", undefined, { key: made.key });
      expect(account.body).toMatchObject({ wallet: addressOf("payer").toLowerCase() });
      const listed = await run("payer", "api-key", "list");
      expect(listed.stdout).toContain(`${made.id}  "laptop", made `);
      expect(listed.stdout).not.toContain(made.key);
      expect(await as("payer", "api-key", "revoke", made.id)).toMatchObject({ id: made.id });
      expect((await ask("GET", "/api/v1/account", undefined, { key: made.key })).status).toBe(401);
      expect(await as("payer", "api-key", "list")).toMatchObject([{ id: made.id, revokedAt: expect.any(String) }]);
    });

    it("links another wallet with its signature, and unlinks it", async () => {
      const { key } = await as("payer", "api-key", "create", "--name", "links");
      const linking = ["wallet", "link", ...at()];
      expect(await refused("developer", ...linking)).toContain("MARKETPLACE_API_KEY is missing");
      const wallet = addressOf("developer").toLowerCase();
      process.env.MARKETPLACE_API_KEY = key;
      try {
        expect(await as("developer", "wallet", "link")).toEqual({ account: addressOf("payer").toLowerCase(), wallet });
      } finally {
        delete process.env.MARKETPLACE_API_KEY;
      }
      expect(await as("payer", "wallet", "list")).toMatchObject([{ wallet }]);
      expect(await refused("payer", "wallet", "unlink", "mine", ...at())).toContain("The wallet is wrong");
      expect(await as("payer", "wallet", "unlink", addressOf("developer"))).toEqual([]);
      expect((await run("payer", "wallet", "list")).stdout).toContain("No wallet is linked");
    });

    it("leaves no login behind", async () => {
      door.seen.length = 0;
      await as("payer", "api-key", "list");
      const login = door.seen.at(-1)?.headers.authorization?.replace("Bearer ", "");
      expect(login).toMatch(/^login_/);
      expect((await ask("GET", "/api/v1/keys", undefined, { key: login ?? "" })).status).toBe(401);
    });

    it("revokes nobody else's", async () => {
      const { id, key } = await as("payer", "api-key", "create", "--name", "server");
      expect(await refused("developer", "api-key", "revoke", id, ...at())).toContain(`There is no API key ${id}.`);
      expect((await ask("GET", "/api/v1/account", undefined, { key })).status).toBe(200);
    });

    it.each([
      [["create"], "--name is missing: add --name and its value"],
      [["create", "--name", " "], "--name is empty: give it a value"],
      [["create", "--name", "x".repeat(101)], "--name is wrong: it must have 1 to 100 characters"],
      [["revoke", "sk_live_0123"], "The key's id is wrong: give the id that begins with key_"],
    ])("is told what is wrong with %j", async (command, sentence) => {
      expect(await refused("payer", "api-key", ...command, ...at())).toContain(sentence);
    });

    it.each([
      [[], "--marketplace is missing: add --marketplace and its address, or set MARKETPLACE_URL"],
      [["--marketplace", "market"], '--marketplace is "market", which is no address: give it like https://'],
      [["--marketplace", "ftp://market.example"], "which is no web address"],
      [["--marketplace", "https://market.example/api"], "which has more than a host and a port"],
      [["--marketplace", "https://me:secret@market.example"], "which has more than a host and a port"],
      [["--marketplace", "http://market.example"], "where keys could be read on their way: use https"],
      [["--marketplace", "http://127.0.0.1:1"], "No marketplace answers at http://127.0.0.1:1: check --marketplace"],
    ])("is told what is wrong with the address %j", async (options, sentence) => {
      expect(await refused("payer", "api-key", "list", ...options)).toContain(sentence);
    });

    it("is told that what answers is no marketplace", async () => {
      const { origin } = new URL(server.url);
      expect(await refused("payer", "api-key", "list", "--marketplace", origin)).toContain(
        `What answers at ${origin} is no marketplace: check --marketplace.`,
      );
    });
  });

  describe("asked for a signature that is good elsewhere", () => {
    it("does not sign for a site in between", async () => {
      const between = await startFrontDoor();
      between.open(market.url);
      expect(await refused("payer", "api-key", "list", "--marketplace", between.url)).toContain(
        `asks for a signature for ${new URL(door.url).host}: give --marketplace the address`,
      );
      expect(between.seen.map(({ url }) => url)).toEqual(["/api/v1/auth/challenge"]);
      await between.close();
    });

    const url = new URL("https://market.example");
    const meant = { url, chainId: 8453, address: addressOf("payer"), statement: "Sign in to the marketplace." };
    const fields = {
      domain: url.host,
      address: addressOf("payer") as `0x${string}`,
      statement: meant.statement,
      uri: url.origin,
      version: "1",
      chainId: 8453,
      nonce: "0123456789abcdef",
      issuedAt: new Date(1_800_000_000_000),
      expirationTime: new Date(1_800_000_600_000),
    } as const;

    it("signs what it is meant to sign", () => {
      expect(() => requireMeant(createSiweMessage(fields), meant)).not.toThrow();
    });

    it.each([
      ["for another site", { domain: "other.example" }, "asks for a signature for other.example"],
      ["for another address of it", { uri: "https://other.example" }, "asks for a signature for"],
      ["on another chain", { chainId: 1 }, "is on chain 1 and --network on chain 8453"],
      ["of another account", { address: addressOf("developer") as `0x${string}` }, "asks for another signature"],
      ["for something else", { statement: "Register the tool of somebody." }, "asks for another signature"],
      ["with something added", { resources: ["https://market.example/all"] }, "asks for another signature"],
      ["under a name", { requestId: "1" }, "asks for another signature"],
    ])("signs nothing %s", (_, other, sentence) => {
      expect(() => requireMeant(createSiweMessage({ ...fields, ...other }), meant)).toThrow(sentence);
    });

    it("signs nothing that is no such message, or that has a line more", () => {
      expect(() => requireMeant("0xdeadbeef", meant)).toThrow("asks for a signature for nobody");
      expect(() => requireMeant(`${createSiweMessage(fields)}\nand more`, meant)).toThrow("another signature");
    });
  });

  describe("with a tool", () => {
    it("hears that it is not registered yet", async () => {
      expect(await refused("developer", "tool-status", tool, ...at())).toContain(`run register-tool ${tool}`);
    });

    it.each([
      [["--endpoint", "gas"], "--endpoint is wrong: it must be the http or https URL of an MCP server"],
      [["--name", "x".repeat(256)], "--name is wrong: it must have 1 to 255 characters"],
      [["--description", ""], "--description is empty: give it a value"],
      [["--category", "Gas"], "--category is wrong: it must be one of Crypto & DeFi"],
      [["--execute-price", "cheap"], "--execute-price is wrong: "],
      [["--execute-prices", "search"], '--execute-prices has "search": write method=price'],
      [["--execute-prices", "a=1,a=2"], "--execute-prices names a twice"],
      [["--execute-prices", "a=-1"], "--execute-prices for a is wrong: "],
      [["--prompts", "nowhere.txt"], "There is no file nowhere.txt: --prompts names a text file"],
    ])("is told what is wrong with %j", async (options, sentence) => {
      door.seen.length = 0;
      expect(await refused("developer", ...register(...options), ...at())).toContain(sentence);
      expect(door.seen).toEqual([]);
    });

    it("is told which id is wrong, and whose the tool is", async () => {
      const [, , ...options] = register();
      expect(await refused("developer", "register-tool", "gas", ...options, ...at())).toContain(
        "The tool's id is wrong: it must be a tool's UUID",
      );
      expect(await refused("payer", ...register(), ...at())).toContain(
        `The tool belongs to ${addressOf("developer")}, and ${addressOf("payer")} would sign: sign with --from`,
      );
    });

    it("sees each check that fails with what to do, and nothing that its server does to the terminal", async () => {
      server.state.open = true;
      const open = await run("developer", ...register());
      expect(open.code).toBe(1);
      expect(open.stdout).toMatch(/stake +ok: /);
      expect(open.stdout).toMatch(/tokens +NOT OK: .* put the middleware of the toolkit before it\./);
      expect(open.stderr).toContain("because of tokens: do what is said there and run the command again.");
      server.state.open = false;
      server.state.methods = [{ ...GAS, outputSchema: { type: "array" } }];
      expect((await run("developer", ...register())).stdout).toMatch(/schemas +NOT OK: .*"type": "object"/);
      server.state.methods = [GAS];
      server.tool.call = () => ({ isError: true, content: [{ type: "text", text: "\u001b[2Jgone\r\u202eback" }] });
      const failing = await run("developer", ...register());
      expect(failing.stdout).toMatch(/calls +NOT OK: .*give its required arguments a default or examples/);
      for (const control of ["\u001b", "\r", "\u202e"]) expect(failing.stdout + failing.stderr).not.toContain(control);
      server.tool.call = () => structured({ value: 12 });
      server.state.down = true;
      const down = await run("developer", ...register("--json"));
      expect(JSON.parse(down.stdout)).toMatchObject({ tool, checks: [{ check: "stake", ok: true }, { ok: false }] });
      expect(down.stdout).toContain("start it, and register the address at which others reach it");
      server.state.down = false;
      expect(await refused("developer", "tool-status", tool, ...at())).toContain("run register-tool");
    });

    it("registers it with its own prices and prompts", async () => {
      const prompts = join(folder, "prompts.txt");
      writeFileSync(prompts, "What does gas cost?\r\n\n  And tomorrow? \n");
      server.state.methods = [GAS, { ...GAS, name: "other", _meta: {} }];
      const options = ["--category", "Utility", "--execute-price", "0.5", "--prompts", prompts];
      const listed = await as("developer", ...register(...options, "--execute-prices", "get_gas_prices=0.002"));
      expect(listed.methods).toEqual([
        { name: "get_gas_prices", executePriceUsd: "0.002" },
        { name: "other", executePriceUsd: "0.50" },
      ]);
      const { body } = await ask("GET", `/api/v1/tools/${tool}`, undefined, { key: null });
      expect(body).toMatchObject({
        name: "Gas",
        category: "Utility",
        suggestedPrompts: [{ text: "What does gas cost?" }, { text: "And tomorrow?" }],
      });
    });

    it("marks it as a favourite, and not what is no tool", async () => {
      expect(await refused("payer", "favorite", "add", "gas", ...at())).toContain("The tool's id is wrong");
      expect(await refused("payer", "favorite", "add", randomUUID(), ...at())).toContain("There is no such tool.");
      expect(await as("payer", "favorite", "add", tool)).toEqual({ favorites: [tool], favoritesOnly: false });
      expect(await as("payer", "favorite", "list")).toEqual({ favorites: [tool], favoritesOnly: false });
      expect((await run("payer", "favorite", "remove", tool)).stdout).toContain("There are no favourites");
    });

    it("sees how it stands", async () => {
      expect(await as("developer", "tool-status", tool)).toMatchObject({
        id: tool,
        offered: true,
        endpoint: server.url,
      });
      expect((await run("developer", "tool-status", tool)).stdout).toContain("  offered    yes\n");
      expect(await refused("payer", "tool-status", tool, ...at())).toContain("The tool belongs to");
    });

    it("hears which of its promises are on chain, and the command that pins the others", async () => {
      const methods = [GAS, { ...GAS, name: "it's other", _meta: {} }];
      server.state.methods = methods;
      const file = join(folder, "schema.json");
      writeFileSync(file, JSON.stringify(GAS.outputSchema));
      const pin = ["pin-schema", tool, "--method", "get_gas_prices", "--schema", file];
      const commandOf = (method: string) =>
        `npx hardhat pin-schema ${tool} --method ${method} --schema <file with its outputSchema>`;
      const before = (await run("developer", "refresh-tool", tool)).stdout;
      expect(before).toContain("get_gas_prices: what it promises is not pinned on chain");
      expect(before).toContain(commandOf("get_gas_prices"));
      expect(before).toContain(commandOf(`'it'\\''s other'`));
      await succeed(deployed.chain, "developer", ...pin);
      const after = (await run("developer", "tool-status", tool)).stdout;
      expect(after).toContain("get_gas_prices: what it promises is pinned on chain");
      expect(after).not.toContain(commandOf("get_gas_prices"));
      server.state.methods = [{ ...GAS, outputSchema: { ...GAS.outputSchema, title: "changed" } }];
      expect(await as("developer", "refresh-tool", tool)).toMatchObject({
        pins: [{ method: "get_gas_prices", pinned: "other" }],
      });
      expect((await run("developer", "tool-status", tool)).stdout).toContain(commandOf("get_gas_prices"));
      server.state.methods = methods;
    });

    it("has its methods read again, which nobody else can", async () => {
      server.state.methods = [{ ...GAS, name: "renamed" }];
      expect(await refused("payer", "refresh-tool", tool, ...at())).toContain("The tool belongs to");
      expect(await as("developer", "refresh-tool", tool)).toMatchObject({ methods: [{ name: "renamed" }] });
      server.state.methods = [];
      expect((await run("developer", "refresh-tool", tool)).stdout).toMatch(/connect +NOT OK: .* at least one\./);
      expect(await as("developer", "tool-status", tool)).toMatchObject({ offered: true });
    });
  });
});
