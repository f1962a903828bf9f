import { randomUUID } from "node:crypto";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { PATIENCE_MS, PATIENTLY } from "../../scripts/waiting/until.ts";
import { signBudget } from "../../settlement/chain/router/budgetDigest.ts";
import { parseUsd } from "../../settlement/domain/money.ts";
import { backends, type Store } from "../../settlement/ledger/testing/backends.ts";
import { DOMAIN, openDaemon } from "../marketplace/openDaemon.ts";
import { makeKey, openMarketplace, PUBLIC_URL, register, standing } from "../marketplace/openMarketplace.ts";
import { GAS, OUTPUT, startTool, structured, type ToolServer } from "../marketplace/startTool.ts";
import { findFlaws } from "./findFlaws.ts";
import { openBrowser } from "./openBrowser.ts";

const POISON = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;
const [sqlite] = backends;

describe("the marketplace's pages, in a browser", () => {
  let [database, daemonStore]: Store[] = [];
  let daemon: Awaited<ReturnType<typeof openDaemon>>;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  let browser: Browser;
  let url: string;
  let gas: string;
  let poisoned: string;
  const servers: ToolServer[] = [];
  const contexts: BrowserContext[] = [];
  // What went wrong in any page, whether a test looks for it or not.
  let problems: string[] = [];

  async function offer(described: object, options: Parameters<typeof startTool>[0] = {}, price = 0n): Promise<string> {
    const owner = privateKeyToAccount(generatePrivateKey());
    const toolId = randomUUID();
    market.onChain.set(toolId, standing(owner.address, { price, stake: 1_000_000_000n }));
    const server = await startTool(options);
    servers.push(server);
    const { body } = await register(market.ask, owner, { toolId, endpoint: server.url, ...described });
    expect(body).toMatchObject({ listed: true });
    return toolId;
  }

  beforeAll(async () => {
    if (sqlite === undefined) throw new Error("there is no SQLite");
    database = await sqlite.create();
    daemonStore = await sqlite.create();
    daemon = await openDaemon(daemonStore);
    [market, browser] = await Promise.all([openMarketplace(database, { daemonUrl: daemon.url }), openBrowser()]);
    gas = await offer(
      { name: "Gas", description: "Gas prices of Base, every block.", category: "Crypto & DeFi" },
      {
        methods: [
          GAS,
          {
            name: "get_history",
            description: "Prices of the last blocks",
            inputSchema: {
              type: "object",
              properties: { blocks: { type: "integer", minimum: 3, description: "how many" }, unit: { enum: ["wei"] } },
              required: ["blocks"],
            },
            outputSchema: OUTPUT,
            _meta: { pricing: { executeUsd: "0.0005" } },
          },
        ],
      },
    );
    poisoned = await offer(
      { name: `${POISON}Poison`, description: POISON, suggestedPrompts: [POISON] },
      {
        methods: [
          {
            name: `x"y'${POISON.slice(0, 100)}`,
            description: POISON,
            inputSchema: {
              type: "object",
              properties: { [POISON]: { type: POISON, description: POISON, enum: [POISON] } },
              required: [POISON],
            },
            outputSchema: { ...OUTPUT, title: POISON },
            _meta: { pricing: { executeUsd: "0.001" } },
          },
        ],
      },
    );
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
    for (const server of servers) await server.close();
    await market?.close();
    await daemon?.close();
    await database?.remove();
    await daemonStore?.remove();
  });

  async function open(path: string, { width = 1280, dark = false } = {}): Promise<Page> {
    const colorScheme = dark ? "dark" : "light";
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
    contexts.push(context);
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => !request.url().startsWith(`${url}/`) && problems.push(`asks ${request.url()}`));
    market.pass(1_000);
    await page.goto(url + path);
    return page;
  }
  const namesOn = (page: Page) => page.locator(".card h3").allTextContents();

  it("somebody who types what they want finds the tool, and reads how to call it", async () => {
    const page = await open("/");
    expect(await namesOn(page)).toContain("Gas");
    await page.fill("#q", "gas prises");
    await page.press("#q", "Enter");
    await page.waitForURL(/q=gas/);
    expect(await namesOn(page)).toEqual(["Gas"]);
    expect(await page.inputValue("#q")).toBe("gas prises");
    await page.click(".card h3 a");
    await page.waitForURL(`**/tools/${gas}`);
    expect(await page.textContent("h1")).toContain("Gas");
    expect(await page.locator(".method h3").allTextContents()).toEqual(["get_gas_prices", "get_history"]);
    expect(await page.textContent("#how")).toBe("Call get_gas_prices for $0.001");
    await page.click("text=How to call it");
    await page.waitForURL(/method=get_history/);
    const curl = (await page.textContent("#call details[open] code")) ?? "";
    expect(curl).toContain(`curl ${PUBLIC_URL}/api/v1/tools/execute`);
    expect(curl).toContain(`'{"toolId":"${gas}","toolName":"get_history","args":{"blocks":3}}'`);
    // One language at a time, by the keyboard too.
    await page.focus("summary:has-text('Python')");
    await page.keyboard.press("Enter");
    expect(await page.locator("#call details[open]").count()).toBe(1);
    expect(await page.textContent("#call details[open] code")).toContain('tool_name="get_history"');
  });

  it("a category shows its tools, and what nobody offers is said", async () => {
    const page = await open("/");
    await page.click(".chips >> text=Crypto & DeFi");
    await page.waitForURL(/category=/);
    expect(await namesOn(page)).toEqual(["Gas"]);
    await page.click(".chips >> text=Legal");
    await page.waitForURL(/Legal/);
    expect(await page.textContent("main")).toContain("Nothing fits.");
    const missing = await open(`/tools/${randomUUID()}?expected=404`).catch(() => null);
    expect(await missing?.textContent("h1")).toBe("There is no such tool");
    // Chromium reports the status by itself.
    problems = problems.filter((problem) => !problem.includes("404"));
  });

  it("whatever a tool says of itself is text", async () => {
    for (const path of ["/", `/?q=${encodeURIComponent(POISON)}`, `/tools/${poisoned}`]) {
      const page = await open(path);
      expect(await page.title()).not.toBe("taken");
      expect(await page.locator("main script, main img").count()).toBe(0);
    }
    const page = await open(`/tools/${poisoned}`);
    expect(await page.textContent("h1")).toContain(`${POISON}Poison`);
    expect(await page.locator(".panel.method >> text=onerror").count()).toBeGreaterThan(0);
  });

  describe("where one asks", () => {
    const DAYS = Array.from({ length: 8 }, (_, i) => ({ town: `<b>Town ${i}</b>`, grams: 100.5 + 10 * i }));
    let key: string;
    let parcels: ToolServer | undefined;
    let parcelsId: string;
    beforeAll(async () => {
      key = await makeKey(market.ask, privateKeyToAccount(generatePrivateKey()));
      parcelsId = await offer(
        {
          name: "Parcels <i>of the post</i>",
          description: "Parcels on their way",
          suggestedPrompts: ["What is the weight of parcel number 7?"],
        },
        {
          methods: [
            {
              name: "weigh_parcel",
              description: "The weight of a parcel in grams, by its number, its sender, and the weights of its way.",
              inputSchema: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
              outputSchema: { type: "object", properties: { weight: { type: "number" } }, required: ["weight"] },
              _meta: { latencyClass: "fast" },
            },
          ],
          call: () =>
            structured({
              weight: 420,
              sender: `${POISON} javascript:alert(1) https://evil.example/`,
              weights: DAYS.map(({ grams }) => grams),
            }),
        },
        50_000n,
      );
      parcels = servers.at(-1);
    });

    async function askOn(page: Page, question: string, secret = key): Promise<void> {
      await page.fill("#question", question);
      await page.fill("#key", secret);
      await page.click("#ask button[type=submit]");
    }
    const ended = (page: Page) => page.waitForSelector("#answer[aria-busy=false]");

    it("the answer comes with the tools that were called, its evidence, its cost and its way to the chain", async () => {
      const page = await open("/ask?q=What+is+the+weight+of+parcel+number+7%3F");
      expect(await page.inputValue("#question")).toBe("What is the weight of parcel number 7?");
      expect(await page.textContent("details[open] code")).toContain(
        `-d '{"query":"What is the weight of parcel number 7?"}'`,
      );
      await page.fill("#question", "What is the weight of Zoë's parcel number 7?");
      expect(await page.textContent("details[open] code")).toContain(
        `-d '{"query":"What is the weight of Zo\\u00eb\\u0027s parcel number 7?"}'`,
      );
      await askOn(page, "What is the weight of parcel number 7?");
      await page.waitForSelector("#way li[aria-current=step]");
      expect(await page.textContent("#text")).toContain("420");
      const steps = await page.locator(".steps li").allTextContents();
      expect(steps).toEqual(
        expect.arrayContaining(["Looking for tools ", "Calling Parcels <i>of the post</i>", "Answered weigh_parcel"]),
      );
      expect(await page.textContent("#outcome")).toContain("Complete answer");
      expect(await page.locator("#evidence td").allTextContents()).toEqual(
        expect.arrayContaining(["420", "Parcels <i>of the post</i> (weigh_parcel)", "weigh_parcel_1.weight"]),
      );
      expect(await page.textContent("#cost h3")).toBe("It cost $0.05");
      expect(await page.textContent("#way li[aria-current=step]")).toBe("Recorded");
      expect(await page.textContent("#batch")).toBe("Settlement has not put it into a batch yet.");
      expect(await page.evaluate(findFlaws)).toEqual([]);
    });

    it("what people ask a tool stands on its page, and a click puts it into the form", async () => {
      const page = await open(`/tools/${parcelsId}`);
      await page.click("text=What is the weight of parcel number 7?");
      await page.waitForURL(/\/ask\?q=What/);
      expect(await page.inputValue("#question")).toBe("What is the weight of parcel number 7?");
    });

    it("many calls of one method are one step with their number, and much evidence is folded", async () => {
      const page = await open("/ask");
      await askOn(page, "What is the weight of parcel numbers 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 11?");
      await page.waitForSelector("#evidence");
      const steps = await page.locator(".steps li").allTextContents();
      expect(steps.filter((step) => step.startsWith("Answered"))).toEqual(["Answered weigh_parcel ×11"]);
      expect(await page.textContent("#evidence summary")).toBe("Evidence: 33 facts");
      expect(await page.getAttribute("#evidence", "open")).toBe(null);
    });

    it("an answer that is not all that was asked for does not look like one that is", async () => {
      const page = await open("/ask");
      await askOn(page, "What is the weight of parcel number 7 for 9?");
      await page.waitForSelector("#outcome");
      expect(await page.locator("#outcome .badge.good").count()).toBe(0);
      expect(await page.textContent("#outcome .badge.warn")).toBe("Complete answer with disclosed gaps");
      expect(await page.textContent("#evidence .notice")).toContain("Open: no argument of the tool takes 9");
      await ended(page);
      expect(await page.evaluate(findFlaws)).toEqual([]);
    });

    it("whoever demands consent is told what to sign, sees what the account can pay, and asks with what was signed", async () => {
      const careful = privateKeyToAccount(generatePrivateKey());
      market.pass(60_000);
      const secret = await makeKey(market.ask, careful);
      daemon.demandConsent(careful.address);
      daemon.deposit(careful.address, 25_000_000n);
      const page = await open("/ask");
      await askOn(page, "What is the weight of parcel number 7?", secret);
      await page.waitForSelector("#answer .notice");
      expect(await page.textContent("#answer .notice")).toContain("npx hardhat budget sign");
      await page.click("#account summary");
      await page.waitForSelector("#funds dl");
      expect(await page.textContent("#funds")).toMatch(/Paid in advance\$25\.00.*Consentdemands a signed budget/);
      expect(await page.evaluate(findFlaws)).toEqual([]);
      await page.fill("#signed", "not JSON");
      await askOn(page, "What is the weight of parcel number 7?", secret);
      await page.waitForSelector("#answer .notice");
      await ended(page);
      expect(await page.textContent("#answer .notice")).toContain("JSON with budget and signature");
      const validUntil = Math.ceil(Date.now() / 1_000) + 86_400;
      const { signature } = await signBudget(careful, DOMAIN, {
        payer: careful.address,
        id: 7n,
        maxSpend: parseUsd("0.25"),
        validUntil: BigInt(validUntil),
        tools: [],
      });
      const budget = { id: "7", maxSpendUsd: "0.25", validUntil: new Date(validUntil * 1_000).toISOString() };
      await page.fill("#signed", JSON.stringify({ budget, signature }));
      await askOn(page, "What is the weight of parcel number 7?", secret);
      await page.waitForSelector("#way li[aria-current=step]");
      expect(await page.textContent("#cost h3")).toBe("It cost $0.05");
      // Chromium reports the status by itself.
      problems = problems.filter((problem) => !problem.includes("402"));
    });

    it("an answer that was lost on its way is said to be, and is had again under the same key, for one price", async () => {
      const wallet = privateKeyToAccount(generatePrivateKey());
      const secret = await makeKey(market.ask, wallet);
      const page = await open("/ask");
      const keys: (string | undefined)[] = [];
      await page.route("**/api/v1/query", async (route) => {
        keys.push(route.request().headers()["idempotency-key"]);
        if (keys.length > 2) return route.continue();
        // The marketplace has answered; of that only the beginning comes through, and the second time nothing at all.
        const response = await route.fetch();
        if (keys.length === 2) return route.abort("connectionreset");
        const [begun = ""] = (await response.text()).split('data: {"type":"done"');
        return route.fulfill({ response, body: begun });
      });
      const before = parcels?.state.calls ?? 0;
      await askOn(page, "What is the weight of parcel number 7?", secret);
      await page.waitForSelector("#again");
      expect(await page.textContent("#answer .notice")).toContain("nothing is paid twice");
      await page.click("#again");
      await expect.poll(() => keys.length, PATIENTLY).toBe(2);
      await page.waitForSelector("#answer[aria-busy=false] #again");
      // Whoever presses the usual button instead is in no worse place.
      await askOn(page, "What is the weight of parcel number 7?", secret);
      await page.waitForSelector("#way li[aria-current=step]");
      expect(await page.textContent("#text")).toContain("420");
      expect(new Set(keys).size).toBe(1);
      expect((parcels?.state.calls ?? 0) - before).toBe(1);
      await expect.poll(async () => (await daemon.exposure(wallet.address)).pending, PATIENTLY).toBe(50_000n);
      // What is asked after an answer is another question.
      await askOn(page, "What is the weight of parcel number 7?", secret);
      await expect.poll(() => keys.length, PATIENTLY).toBe(4);
      expect(new Set(keys).size).toBe(2);
      await page.waitForSelector("#way li[aria-current=step]");
      problems = problems.filter((problem) => !/ERR_CONNECTION_RESET/.test(problem));
    });

    it("the question in the commands is the question in every language", async () => {
      const page = await open("/ask");
      await page.fill("#question", 'It\'s 🐘 "é"?');
      const codes = await page.locator("code[data-template]").allTextContents();
      expect(codes).toHaveLength(3);
      expect(codes[0]).toContain(String.raw`-d '{"query":"It\u0027s \ud83d\udc18 \"\u00e9\"?"}'`);
      expect(codes[2]).toContain(String.raw`client.query.run("It\u0027s \U0001f418 \"\u00e9\"?")`);
    });

    it("nothing that a tool says is more than text, and only our own pages are led to", async () => {
      const page = await open("/ask");
      await askOn(page, "Plot the weights of the way of parcel number 7 and its sender");
      await page.waitForSelector("#cost");
      expect(await page.textContent("#answer")).toContain("onerror");
      expect(await page.title()).toBe("Ask · Context marketplace");
      expect(await page.locator("#answer script, #answer img, #answer b, #answer i").count()).toBe(0);
      const links = await page.locator("#answer a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
      expect(links).toEqual([expect.stringMatching(/^\/tools\/[0-9a-f-]{36}$/)]);
      expect(await page.locator("svg.chart path.line").count()).toBe(1);
    });

    it("what goes wrong is said in words, and costs nothing", async () => {
      const page = await open("/ask");
      await askOn(page, "Who won the chess championship in 1972?");
      await ended(page);
      expect(await page.textContent("#outcome")).toContain("No tool answers this");
      expect(await page.textContent("#cost h3")).toBe("It cost nothing");
      expect(await page.textContent("#batch")).toBe("Nothing is owed.");
      // Nor is anybody left with nothing to do.
      expect(await page.getAttribute("#elsewhere a", "href")).toBe("/");
      if (parcels !== undefined) parcels.state.down = true;
      try {
        await askOn(page, "What is the weight of parcel number 8?");
        await page.waitForSelector("#answer .notice");
        expect(await page.textContent("#answer .notice")).toMatch(/failed|cannot/);
      } finally {
        if (parcels !== undefined) parcels.state.down = false;
      }
      await askOn(page, "What is the weight of parcel number 9?", "sk_live_wrong");
      await page.waitForSelector("#answer .notice");
      await ended(page);
      expect(await page.textContent("#answer .notice")).toMatch(/key/);
      // Chromium reports the status by itself.
      problems = problems.filter((problem) => !problem.includes("401"));
    });

    it("the page may run its own script, and talk to nobody but us", async () => {
      market.pass(1_000);
      const policy = (await fetch(`${url}/ask`)).headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'; connect-src 'self'");
      expect(policy).not.toContain("unsafe");
    });

    it.each([
      ["on a desk", { width: 1280, dark: false }],
      ["in the dark", { width: 1280, dark: true }],
      ["on a telephone", { width: 360, dark: false }],
    ])("%s an answer can be read", async (_, how) => {
      const page = await open("/ask", how);
      await askOn(page, "Plot the weights of the way of parcel number 7");
      await page.waitForSelector("#way li[aria-current=step]");
      // Whoever has asked is shown what comes, wherever the page has put it.
      const answerTop = await page.locator("#answer").evaluate((answer) => answer.getBoundingClientRect().top);
      expect(answerTop).toBeGreaterThanOrEqual(-1);
      const textBottom = await page.locator("#text").evaluate((text) => text.getBoundingClientRect().bottom);
      expect(textBottom).toBeLessThan(800);
      expect(await page.evaluate(findFlaws)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(how.width);
      // Where a fact is from stands beside it, and not outside of what is seen.
      await page.locator("#evidence").evaluate((evidence) => evidence.setAttribute("open", ""));
      expect(await page.locator("#evidence .wide").evaluate((wide) => wide.scrollWidth - wide.clientWidth)).toBe(0);
      const cut = await page.locator(".chart").evaluate((chart) => {
        const { left, right } = chart.getBoundingClientRect();
        return [...chart.querySelectorAll("text")]
          .map((text) => ({ said: text.textContent, box: text.getBoundingClientRect() }))
          .filter(({ box }) => box.left < left || box.right > right || box.height < 10)
          .map(({ said }) => said);
      });
      expect(cut).toEqual([]);
      const { ASK_SCREENSHOTS: folder } = process.env;
      if (folder)
        await page.screenshot({ path: `${folder}/${how.width}${how.dark ? "dark" : ""}.png`, fullPage: true });
    });
  });

  it.each([
    ["on a desk", { width: 1280, dark: false }],
    ["in the dark", { width: 1280, dark: true }],
    ["on a telephone", { width: 360, dark: false }],
  ])("%s every page can be read and used", async (_, how) => {
    for (const path of [
      "/",
      "/ask",
      "/help",
      "/?q=gas",
      "/?q=nothing+at+all+qqq",
      `/tools/${gas}`,
      `/tools/${poisoned}`,
    ]) {
      const page = await open(path, how);
      expect(await page.evaluate(findFlaws), path).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(how.width);
      // What is wider than the text beside it, and short words that are broken in two.
      const misfits = await page.evaluate(() => {
        const main = document.querySelector("main") as HTMLElement;
        const right = main.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(main).paddingRight);
        const wide = [...main.querySelectorAll("form, button, input, textarea, .card, .panel, table")].filter(
          (one) => one.checkVisibility() && one.getBoundingClientRect().right > right + 1,
        );
        const broken = [...main.querySelectorAll(".method td:nth-child(2)")].filter((cell) => {
          const range = document.createRange();
          const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode();
          return [...(text?.nodeValue ?? "").matchAll(/(?<!\S)\S{1,9}(?!\S)/g)].some(({ 0: word, index }) => {
            range.setStart(text as Node, index);
            range.setEnd(text as Node, index + word.length);
            return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
          });
        });
        return [...wide, ...broken].map((one) => `${one.tagName} ${one.textContent?.slice(0, 40)}`);
      });
      expect(misfits, path).toEqual([]);
    }
  });

  it("loads nothing but its style and its icon, under a policy without scripts", async () => {
    market.pass(1_000);
    const reply = await fetch(`${url}/`);
    const policy = reply.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; style-src 'self'");
    expect(policy).not.toMatch(/script-src|unsafe/);
    const text = await reply.text();
    expect(text).not.toContain("<script");
    const [style] = /\/assets\/[0-9a-f]{16}\/style\.css/.exec(text) ?? [""];
    const asset = await fetch(url + style);
    expect(asset.headers.get("cache-control")).toContain("immutable");
    expect((await fetch(`${url}/assets/../config.ts`)).status).toBe(404);
  });

  it("whoever went astray in a browser is shown the way back, and a program is told in JSON", async () => {
    const page = await open("/nothing/here");
    expect(await page.textContent("h1")).toBe("There is no such page");
    expect(await page.getAttribute("main a", "href")).toBe("/");
    // The browser says so too.
    problems = problems.filter((problem) => !problem.includes("404 (Not Found)"));
    const asked = async (path: string, accept: string) => fetch(url + path, { headers: { accept } });
    expect((await asked("/nothing/here", "text/html")).status).toBe(404);
    for (const [path, accept] of [
      ["/nothing/here", "*/*"],
      ["/api/v1/nothing", "text/html"],
    ] as const) {
      const reply = await asked(path, accept);
      expect([reply.status, await reply.json()]).toEqual([
        404,
        { error: `There is no GET ${path}.`, code: "not_found" },
      ]);
    }
  });

  it("a stranger who asks too often is told to wait", async () => {
    const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await fetch(`${url}/`)).status));
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  });

  it("a tool that is not offered says why, and shows what is known of it", async () => {
    const listing = await market.catalogue.find(poisoned);
    if (listing === null) throw new Error("it is not listed");
    market.catalogue.apply({ ...listing, status: { kind: "delisted", reason: "its server has not answered" } });
    const page = await open(`/tools/${poisoned}`);
    expect(await page.textContent(".notice")).toBe("Not offered at present: Its server has not answered.");
    expect(await namesOn(await open("/"))).not.toContain(`${POISON}Poison`);
  });
});
