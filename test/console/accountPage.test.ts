import { randomUUID } from "node:crypto";
import type { Browser, BrowserContext, Page } from "playwright-core";
import type { Hex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { PATIENCE_MS } from "../../scripts/waiting/until.ts";
import { backends, type Store } from "../../settlement/ledger/testing/backends.ts";
import { openDaemon } from "../marketplace/openDaemon.ts";
import { openMarketplace, register, standing } from "../marketplace/openMarketplace.ts";
import { startTool, type ToolServer } from "../marketplace/startTool.ts";
import { findFlaws } from "./findFlaws.ts";
import { openBrowser } from "./openBrowser.ts";

const POISON = `<img src=x onerror="document.title='taken'">`;
const newWallet = () => privateKeyToAccount(generatePrivateKey());
const [sqlite] = backends;

describe("the account's page, in a browser", () => {
  let [database, daemonStore]: Store[] = [];
  let daemon: Awaited<ReturnType<typeof openDaemon>>;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  let browser: Browser;
  let server: ToolServer;
  let url: string;
  const toolId = randomUUID();
  const contexts: BrowserContext[] = [];
  let problems: string[] = [];

  beforeAll(async () => {
    if (sqlite === undefined) throw new Error("there is no SQLite");
    database = await sqlite.create();
    daemonStore = await sqlite.create();
    daemon = await openDaemon(daemonStore);
    [market, browser, server] = await Promise.all([
      openMarketplace(database, { daemonUrl: daemon.url }),
      openBrowser(),
      startTool(),
    ]);
    const owner = newWallet();
    market.onChain.set(toolId, standing(owner.address));
    const described = { toolId, endpoint: server.url, name: `${POISON}Gas`, description: "Gas prices" };
    expect((await register(market.ask, owner, described)).body).toMatchObject({ listed: true });
    url = await market.listen();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    const found = problems;
    problems = [];
    expect(found).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await market?.close();
    await daemon?.close();
    await database?.remove();
    await daemonStore?.remove();
  });

  // A wallet's extension as pages see it. It shows the account that is chosen in it, and signs unless its owner says no.
  type Extension = { chosen: PrivateKeyAccount; says: "yes" | "no"; asked: string[] };

  async function open(path: string, extension: Extension | null, { width = 1280, dark = false } = {}): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      colorScheme: dark ? "dark" : "light",
    });
    contexts.push(context);
    context.setDefaultTimeout(PATIENCE_MS);
    if (extension !== null) {
      await context.exposeFunction("askExtension", async (method: string, params: string[] = []) => {
        extension.asked.push(method);
        if (extension.says === "no") return { code: 4001 };
        if (method === "eth_requestAccounts") return { result: [extension.chosen.address] };
        if (method !== "personal_sign") return { code: -32601 };
        expect(params[1]).toBe(extension.chosen.address);
        return { result: await extension.chosen.signMessage({ message: { raw: params[0] as Hex } }) };
      });
      await context.addInitScript(() => {
        const scope = globalThis as unknown as {
          ethereum: object;
          askExtension(method: string, params: unknown): Promise<{ code?: number; result?: unknown }>;
        };
        scope.ethereum = {
          async request({ method, params }: { method: string; params?: unknown }) {
            const { code, result } = await scope.askExtension(method, params);
            if (code !== undefined) throw Object.assign(new Error("refused"), { code });
            return result;
          },
        };
      });
    }
    const page = await context.newPage();
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => !request.url().startsWith(`${url}/`) && problems.push(`asks ${request.url()}`));
    market.pass(60_000);
    await page.goto(url + path);
    return page;
  }

  async function enter(extension: Extension, options = {}): Promise<Page> {
    const page = await open("/account", extension, options);
    await page.click("#enter");
    await page.waitForSelector("#account:not([hidden])");
    expect(await page.isVisible("#sign-in")).toBe(false);
    return page;
  }

  it("whoever has a wallet signs in, makes a key that works and is shown once, and revokes it", async () => {
    const wallet = newWallet();
    const page = await enter({ chosen: wallet, says: "yes", asked: [] });
    expect(await page.textContent("#wallet")).toBe(wallet.address.toLowerCase());
    expect(await page.textContent("#keys")).toBe("None yet.");
    await page.fill("#name", POISON);
    await page.click("#make button");
    await page.waitForSelector("#made code");
    const key = (await page.textContent("#made code")) ?? "";
    const shown = async () => (await market.ask("GET", "/api/v1/account", undefined, key)).status;
    expect(await shown()).toBe(200);
    await page.waitForSelector("#keys td");
    expect(await page.textContent("#keys td")).toBe(POISON);
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.evaluate(findFlaws)).toEqual([]);
    await page.click("#keys button");
    await page.waitForSelector("#keys td:has-text('Revoked')");
    expect(await shown()).toBe(401);
    expect(await page.textContent("#made")).toBe("");
    // Nothing of the login outlives the page.
    expect(await page.evaluate(() => [localStorage.length, sessionStorage.length])).toEqual([0, 0]);
    await page.click("#leave");
    await page.waitForSelector("#sign-in:not([hidden])");
    expect(await page.isVisible("#account")).toBe(false);
  });

  it("another wallet is linked by its own signature, and unlinked", async () => {
    const [own, other] = [newWallet(), newWallet()];
    const extension: Extension = { chosen: own, says: "yes", asked: [] };
    const page = await enter(extension);
    await page.click("#link");
    await page.waitForSelector("#said .notice");
    expect(await page.textContent("#said")).toBe("This is the account's own wallet. Choose another one to link.");
    extension.chosen = other;
    await page.click("#link");
    await page.waitForSelector("#wallets td");
    expect(extension.asked).toContain("wallet_requestPermissions");
    expect(await page.textContent("#wallets td")).toBe(other.address.toLowerCase());
    await page.click("#wallets button");
    await page.waitForSelector("#wallets .empty");
  });

  it("favourites are added by their id, shown by name, and looked among alone", async () => {
    const page = await enter({ chosen: newWallet(), says: "yes", asked: [] });
    await page.fill("#tool", toolId);
    await page.click("#add button");
    await page.waitForSelector("#favorites td");
    expect(await page.textContent("#favorites a")).toBe(`${POISON}Gas`);
    expect(await page.getAttribute("#favorites a", "href")).toBe(`/tools/${toolId}`);
    expect(await page.title()).toBe("Account · Context marketplace");
    const answered = page.waitForResponse((response) => response.request().method() === "PATCH");
    await page.check("#only");
    expect(await (await answered).json()).toMatchObject({ favoritesOnly: true, favorites: [toolId] });
    await page.fill("#tool", randomUUID());
    await page.click("#add button");
    await page.waitForSelector("#said .notice");
    expect(await page.textContent("#said")).toBe("There is no such tool.");
    await page.click("#favorites button");
    await page.waitForSelector("#favorites .empty");
    // Chromium reports the status by itself.
    problems = problems.filter((problem) => !problem.includes("404"));
  });

  it("a browser without a wallet is told of the commands, and whoever does not sign that nothing has changed", async () => {
    const bare = await open("/account", null);
    await bare.click("#enter");
    await bare.waitForSelector("#no-wallet:not([hidden])");
    expect(await bare.textContent("#no-wallet")).toContain("npx hardhat api-key create --name laptop");
    expect(await bare.evaluate(findFlaws)).toEqual([]);
    const page = await open("/account", { chosen: newWallet(), says: "no", asked: [] });
    await page.click("#enter");
    await page.waitForSelector("#said .notice");
    expect(await page.textContent("#said")).toBe("You did not sign. Nothing was changed.");
    expect(await page.isVisible("#account")).toBe(false);
  });

  it.each([
    ["wide", { width: 1280 }],
    ["narrow and dark", { width: 360, dark: true }],
  ])("has no flaw that a program finds, %s", async (_, options) => {
    const extension: Extension = { chosen: newWallet(), says: "yes", asked: [] };
    const page = await enter(extension, options);
    await page.fill("#name", "laptop");
    await page.click("#make button");
    await page.waitForSelector("#keys td");
    extension.chosen = newWallet();
    await page.click("#link");
    await page.waitForSelector("#wallets td");
    await page.fill("#tool", toolId);
    await page.click("#add button");
    await page.waitForSelector("#favorites td");
    expect(await page.evaluate(findFlaws)).toEqual([]);
    // Nobody scrolls sideways for a button, or to see the whole of a key that is shown once.
    const cut = await page.$$eval("#account :is(button, pre)", (all) =>
      all
        .filter((one) => one.getBoundingClientRect().right > window.innerWidth || one.scrollWidth > one.clientWidth)
        .map(({ textContent }) => textContent),
    );
    expect(cut).toEqual([]);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(options.width);
    const help = await open("/help", null, options);
    expect(await help.textContent("#cap")).toContain("npx hardhat cap --set");
    expect(await help.evaluate(findFlaws)).toEqual([]);
  });

  it("runs no script but its own, and asks nobody but us", async () => {
    const { headers } = await market.app.inject({ url: "/account" });
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none';.*script-src 'self'; connect-src 'self'/);
    expect((await market.app.inject({ url: "/help" })).headers["content-security-policy"]).not.toContain("script-src");
  });
});
