import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../marketplace/mcp/testing/startServer.ts";
import type { Reply } from "../../scripts/client/createClient.ts";
import { PATIENCE_MS, PATIENTLY } from "../../scripts/waiting/until.ts";
import { type LocalWorld, startWorld } from "../../scripts/world/startWorld.ts";
import { routes } from "../../settlement/daemon/routes/index.ts";
import { uuidFromToolId } from "../../settlement/domain/toolId.ts";
import { DISKLESS } from "../../settlement/ledger/testing/diskless.ts";
import { SERVICE_TOKEN, startTestDaemon, type TestDaemon } from "../local/daemon/testDaemon.ts";
import { mineBlocks } from "../local/world/mineBlocks.ts";
import { findFlaws } from "./findFlaws.ts";
import { openBrowser } from "./openBrowser.ts";
import { type History, recordHistory } from "./recordHistory.ts";

const CONSOLE_TOKEN = "console-token-of-the-tests-0123456789";
const VIEWS = ["Overview", "Batches", "Charges", "Sessions", "Payers", "Tools", "Operators", "Audit"] as const;

describe("the console", () => {
  let folder: string;
  let world: LocalWorld;
  let daemon: TestDaemon;
  let history: History;
  let browser: Browser;
  let mining: ReturnType<typeof mineBlocks>;
  let ask: TestDaemon["ask"];
  let marketplace: Awaited<ReturnType<typeof startServer>>;

  // What a marketplace says of the tool that everybody pays.
  const listing = {
    description: "Forecasts for <i>every</i> grid cell",
    category: "Real World",
    totalQueries: 1_234,
    successRate: "98.5",
    uptimePercent: "99.91",
    mcpTools: [
      { name: "forecast", description: "Of a day", executePriceUsd: "0.002", _meta: { latencyClass: "fast" } },
      { name: "<b>raw</b>", description: "", executePriceUsd: null, _meta: { latencyClass: "slow" } },
    ],
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(DISKLESS, "console-"));
    [world, browser] = await Promise.all([startWorld({ tools: 3, payers: 6 }), openBrowser()]);
    history = await recordHistory(world, join(folder, "ledger.db"), { minutes: 2, turns: 3, callsPerTurn: 2 });
    mining = mineBlocks(world, { everyMs: 200 });
    const used = uuidFromToolId(world.tools[1]?.toolId ?? "0x");
    marketplace = await startServer((request, response) => {
      const isKnown = request.url === `/api/v1/tools/${used}`;
      response.writeHead(isKnown ? 200 : 404, { "access-control-allow-origin": "*" });
      response.end(JSON.stringify(isKnown ? listing : { error: "There is no such tool." }));
    });
    const environment = {
      SETTLEMENT_CONSOLE_TOKEN: CONSOLE_TOKEN,
      SETTLEMENT_MARKETPLACE_URL: `http://127.0.0.1:${marketplace.port}/`,
    };
    daemon = await startTestDaemon(world, join(folder, "ledger.db"), { environment });
    ask = daemon.ask;
  });

  afterAll(async () => {
    await mining?.stop();
    await browser?.close();
    await daemon?.stop();
    await marketplace?.close();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const chargeOf = async (source: string) => {
    const { body } = await ask("GET", `/v1/${source}`);
    const { charges, call } = body as unknown as { charges?: { chargeId: string }[]; call?: { chargeId: string } };
    return call?.chargeId ?? charges?.[0]?.chargeId ?? "";
  };
  const logIn = async () => {
    const cookies: string[] = [];
    await expect
      .poll(async () => {
        const reply = await ask("POST", "/console/login", { token: CONSOLE_TOKEN }, { key: null });
        cookies.push(...reply.headers.getSetCookie());
        return cookies.length;
      }, PATIENTLY)
      .toBe(1);
    return cookies[0]?.split(";")[0] ?? "";
  };

  describe("over HTTP", () => {
    // Every route of the platform with an id that exists, so that a 404 cannot pass for a refusal.
    const pathOf = async (path: string) => {
      const { charges } = (await ask("GET", `/v1/turns/${history.settledTurn}`)).body as {
        charges: { payer: string; batchId: string }[];
      };
      const { payer = "", batchId = "" } = charges[0] ?? {};
      return path
        .replace(":payer/batches/:batchId", `${payer}/batches/${batchId}`)
        .replace(":chargeId", await chargeOf(`turns/${history.settledTurn}`))
        .replace(":payer", history.absorbedPayer)
        .replace(":developer", world.tools[1]?.developer.address ?? "")
        .replace(":sessionId", history.sessions.open)
        .replace(":turnId", history.settledTurn)
        .replace(":callId", history.settledCall)
        .replace(/find$/, "find?id=nothing");
    };

    // Whoever is not authenticated is limited, which is no answer to what they asked.
    async function replyTo(request: () => Promise<Reply>): Promise<Reply> {
      let reply = await request();
      await expect
        .poll(async () => {
          if (reply.status === 429) reply = await request();
          return reply.status;
        }, PATIENTLY)
        .not.toBe(429);
      return reply;
    }
    const statusOf = async (request: () => Promise<Reply>) => (await replyTo(request)).status;

    it("shows nobody without a login a single payer, and who is logged in everything, by reading only", async () => {
      const cookie = await logIn();
      const all = routes.filter(({ access }) => access === "platform");
      expect(all.filter(({ method }) => method === "GET").length).toBeGreaterThan(12);
      for (const { method, path } of all) {
        const url = await pathOf(path);
        expect(await statusOf(() => ask(method, url, undefined, { key: null })), url).toBe(401);
        const viewed = await statusOf(() => ask(method, url, undefined, { key: null, headers: { cookie } }));
        expect(viewed, `${method} ${url}`).toBe(method === "GET" ? 200 : 401);
      }
      const headers = { cookie: `${cookie}0` };
      expect(await statusOf(() => ask("GET", "/v1/payers", undefined, { key: null, headers }))).toBe(401);
    });

    it("what is public names no payer but those whose rows failed on chain, no session, no call and no machine", async () => {
      const { batches } = (await ask("GET", "/v1/batches?limit=1000", undefined, { key: null })).body as unknown as {
        batches: { batchId: string }[];
      };
      const paths = [
        ...["/v1/stats", "/v1/stats?minutes=60&stepSeconds=60", "/v1/batches?limit=1000", "/v1/tools"],
        ...["/v1/operators", `/v1/tools/${uuidFromToolId(history.unstakedTool)}`, "/console", "/console/login"],
        ...batches.map(({ batchId }) => `/v1/batches/${batchId}`),
      ];
      const charge = await chargeOf(`turns/${history.settledTurn}`);
      const { sessions, settledTurn, settledCall, absorbedPayer } = history;
      const secret = [sessions.open, sessions.closed, settledTurn, settledCall, absorbedPayer, charge];
      const paying = world.payers.slice(2).map(({ address }) => address.toLowerCase());
      const refused = new Set<string>();
      for (const path of paths) {
        const { status, text } = await ask("GET", path, undefined, { key: null });
        expect(status, path).toBe(200);
        for (const name of [...secret, daemon.config.holder, CONSOLE_TOKEN]) expect(text, path).not.toContain(name);
        // A refused line names its payer in the router's event, and nothing else may.
        for (const [, address] of text.matchAll(/"chargedTo":"(0x\w{40})"/g)) refused.add(address?.toLowerCase() ?? "");
        const rest = text.replaceAll(/"(failed|refused)":\[[^\]]*\]/g, "").toLowerCase();
        for (const payer of paying) expect(rest, path).not.toContain(payer);
      }
      expect(refused).toContain(history.failedPayer);
    });

    it("refuses a wrong token, no token and something else, and does not let anybody guess quickly", async () => {
      for (const [body, status] of [
        [{ token: "wrong" }, 401],
        [{ token: "" }, 401],
        [{}, 400],
        [{ token: CONSOLE_TOKEN, more: 1 }, 400],
        ["{", 400],
      ] as const) {
        const reply = await replyTo(() => ask("POST", "/console/login", body, { key: null }));
        expect(reply).toMatchObject({ status, body: { error: expect.any(String), code: expect.any(String) } });
        expect(reply.headers.get("set-cookie")).toBeNull();
      }
      // Ten a second are let through: so many that no machine is slow enough to be allowed all of them.
      const guesses = await Promise.all(
        Array.from({ length: 300 }, () => ask("POST", "/console/login", { token: "guess" }, { key: null })),
      );
      expect(guesses.some(({ status }) => status === 429)).toBe(true);
      const form = { "content-type": "application/x-www-form-urlencoded" };
      expect((await ask("POST", "/console/login", "token=x", { key: null, headers: form })).status).toBe(415);
    });

    it("serves its own files and no others, permanently, under a policy that allows nothing from elsewhere", async () => {
      const page = await ask("GET", "/console", undefined, { key: null });
      expect((await ask("GET", "/console/", undefined, { key: null })).text).toBe(page.text);
      const policy = page.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain(`connect-src 'self' http://127.0.0.1:${marketplace.port}; `);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
      expect(page.headers.get("x-content-type-options")).toBe("nosniff");
      const again = await fetch(`${daemon.url}/console`, {
        headers: { "if-none-match": page.headers.get("etag") ?? "" },
      });
      expect(again.status).toBe(304);
      const base = /\/console\/[0-9a-f]{16}/.exec(page.text)?.[0] ?? "";
      const script = await ask("GET", `${base}/main.ts`, undefined, { key: null });
      expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
      expect(script.headers.get("cache-control")).toContain("immutable");
      for (const path of [
        "/../login.ts",
        "/..%2flogin.ts",
        "/tsconfig.json",
        "/%2e%2e/registerConsole.ts",
        "/index.html",
      ]) {
        expect((await ask("GET", base + path, undefined, { key: null })).status, path).toBe(404);
      }
    });

    it("switched off, there is no page and nothing is public", async () => {
      const environment = { SETTLEMENT_CONSOLE: "off", SETTLEMENT_CONSOLE_TOKEN: CONSOLE_TOKEN };
      const off = await startTestDaemon(world, join(folder, "off.db"), { environment, operators: 0 });
      try {
        expect((await off.ask("GET", "/console", undefined, { key: null })).status).toBe(404);
        expect((await off.ask("GET", "/v1/stats", undefined, { key: null })).status).toBe(401);
        const cookie = await logIn();
        expect((await off.ask("GET", "/v1/payers", undefined, { key: null, headers: { cookie } })).status).toBe(401);
        expect((await off.ask("GET", "/v1/stats")).status).toBe(200);
      } finally {
        await off.stop();
      }
    });

    it("says what is wrong with the steps of a time line", async () => {
      for (const query of ["minutes=7&stepSeconds=25", "minutes=60&stepSeconds=10", "minutes=0", "stepSeconds=x"]) {
        const reply = await ask("GET", `/v1/stats?${query}`, undefined, { key: null });
        expect(reply).toMatchObject({ status: 400, body: { code: "invalid_request" } });
      }
    });
  });

  describe("in a browser", () => {
    const contexts: BrowserContext[] = [];
    // What went wrong in any page, whether a test looks for it or not.
    let problems: string[] = [];

    afterEach(async () => {
      for (const context of contexts.splice(0)) await context.close();
      const found = problems;
      problems = [];
      expect(found).toEqual([]);
    });

    type PageOptions = { login?: boolean; width?: number; dark?: boolean; expected?: RegExp };

    async function open(place = "#/", { login = true, width = 1280, dark = false, expected }: PageOptions = {}) {
      const viewport = { width, height: 800 };
      const context = await browser.newContext({ viewport, colorScheme: dark ? "dark" : "light" });
      contexts.push(context);
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      const report = (problem: string) => {
        if (!expected?.test(problem)) problems.push(problem);
      };
      page.on("console", (message) => message.type() === "error" && report(message.text()));
      page.on("pageerror", (error) => report(error.message));
      const places = [`${daemon.url}/`, `http://127.0.0.1:${marketplace.port}/api/v1/tools/`];
      page.on("request", (request) => {
        if (!places.some((place) => request.url().startsWith(place))) report(`asks ${request.url()}`);
      });
      await page.goto(`${daemon.url}/console${login ? `#token=${CONSOLE_TOKEN}` : ""}`);
      await page.waitForSelector("#settled");
      if (place !== "#/") await go(page, place);
      return page;
    }

    const go = async (page: Page, place: string) => {
      await page.evaluate(
        (hash) =>
          new Promise((resolve) => {
            if (location.hash === hash) resolve(null);
            addEventListener("hashchange", resolve, { once: true });
            location.hash = hash;
          }),
        place,
      );
      await page.waitForSelector("main[aria-busy=false]");
    };
    const arrived = (page: Page, title: string) =>
      page.waitForFunction((name) => {
        const isBusy = document.querySelector("main")?.ariaBusy === "true";
        return !isBusy && document.querySelector("h1")?.textContent === name;
      }, title);
    const textOf = (page: Page, selector: string) => page.locator(selector).first().textContent().then(String);
    // Pages of one thing.
    const onePages = async () => [
      `#/charges/${await chargeOf(`turns/${history.settledTurn}`)}`,
      `#/payers/${history.absorbedPayer}`,
      `#/tools/${uuidFromToolId(world.tools[1]?.toolId ?? "0x")}`,
    ];
    const placeOf = (view: string) => (view === "Overview" ? "#/" : `#/${view.toLowerCase()}`);

    it("shows the ledger's sums, and new ones without being loaded again", async () => {
      const page = await open();
      await page.evaluate(() => Object.assign(window, { isSame: true }));
      const sums = async () => {
        const { totals } = (await ask("GET", "/v1/status")).body as unknown as { totals: Record<string, string> };
        return `$${totals.accruedUsd} $${totals.settledUsd} $${totals.absorbedUsd} $${totals.refusedUsd}`;
      };
      const shown = async () =>
        (
          await Promise.all(["#accrued", "#settled", "#sum-absorbed", "#sum-refused"].map((id) => textOf(page, id)))
        ).join(" ");
      const before = await sums();
      expect(before).not.toMatch(/\$0\.00/);
      await expect.poll(shown, PATIENTLY).toBe(before);
      const tools = [{ toolId: uuidFromToolId(world.tools[1]?.toolId ?? "0x"), amountUsd: "0.10", calls: 1 }];
      const payer = world.payers[3]?.address;
      await ask("POST", "/v1/turns", { turnId: "live", payer, outcome: "delivered", modelCostUsd: "7.554321", tools });
      await expect.poll(async () => (await shown()) === (await sums()), PATIENTLY).toBe(true);
      const states = async () =>
        ((await ask("GET", "/v1/turns/live")).body as unknown as { charges: { state: string }[] }).charges[0]?.state;
      await expect.poll(states, PATIENTLY).toBe("final");
      await expect.poll(async () => (await shown()) === (await sums()), PATIENTLY).toBe(true);
      expect(await page.evaluate(() => "isSame" in window)).toBe(true);
    });

    it("draws every series of every chart in its own colour, in light and in dark", async () => {
      const page = await open();
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        const series = await page.locator("figure.chart .swatch").evaluateAll((swatches) =>
          swatches.map((swatch) => {
            const canvas = swatch.closest("figure")?.querySelector(".canvas");
            const { x = 0, y = 0, width = 0, height = 0 } = canvas?.getBoundingClientRect() ?? {};
            const [r = 0, g = 0, b = 0] = getComputedStyle(swatch).backgroundColor.match(/\d+/g)?.map(Number) ?? [];
            return { name: swatch.className, colour: [r, g, b], box: [x, y, width, height] };
          }),
        );
        expect(series).toHaveLength(6);
        const pixels = await countPixels(await page.screenshot(), series);
        for (const [i, { name }] of series.entries()) expect(pixels[i], name).toBeGreaterThan(15);
      }
    });

    type Area = { colour: number[]; box: number[] };

    // Decodes a screenshot in a page that has no policy, and counts the pixels of each box that are as good as its colour.
    async function countPixels(png: Buffer, areas: readonly Area[]): Promise<number[]> {
      const context = await browser.newContext();
      contexts.push(context);
      const page = await context.newPage();
      return page.evaluate(
        async ([base64, wanted]) => {
          const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
          const bitmap = await createImageBitmap(new Blob([bytes]));
          const drawing = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
          drawing?.drawImage(bitmap, 0, 0);
          return wanted.map(({ colour, box: [x = 0, y = 0, width = 0, height = 0] }) => {
            const { data } = drawing?.getImageData(x, y, width, height) ?? { data: [] };
            let count = 0;
            for (let i = 0; i < data.length; i += 4) {
              const distances = colour.map((value, channel) => Math.abs((data[i + channel] ?? 0) - value));
              if (Math.max(...distances) < 12) count += 1;
            }
            return count;
          });
        },
        [png.toString("base64"), [...areas]] as const,
      );
    }

    it("reads a chart out under the arrow keys, and shows the same numbers as a table", async () => {
      const page = await open();
      const figure = page.locator("#chart-money");
      expect(await figure.locator("svg title").textContent()).toBe("Accrued and settled");
      await figure.locator(".canvas").focus();
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("ArrowLeft");
      await expect
        .poll(() => figure.locator("output").textContent())
        .toMatch(/\d\d:\d\d.*accrued \$[\d.]+.*settled \$/s);
      await figure.locator("summary").click();
      await expect.poll(() => figure.locator("tbody tr").count()).toBe(60);
      const values = await figure.locator("tbody td").allInnerTexts();
      expect(values.some((value) => value !== "$0.00")).toBe(true);
    });

    it("follows a turn's charge and a call from where they began to a proof that the browser has checked", async () => {
      const page = await open(`#/charges/${await chargeOf(`turns/${history.settledTurn}`)}`);
      expect(await textOf(page, "#verdict")).toMatch(/^Proven\. Your browser has hashed the receipt up to the root/);
      expect(await page.locator(".way li.done").count()).toBe(6);
      expect(await textOf(page, ".way")).toContain(history.settledTurn);
      await page.locator(".way a[href^='#/batches/']").click();
      await arrived(page, "Batch");
      const [batchId] = /0x[0-9a-f]{64}/.exec(await textOf(page, "main")) ?? [];
      expect(await world.router.settledAt(batchId ?? "")).toBeGreaterThan(0n);
      await go(page, `#/charges/${await chargeOf(`calls/${history.settledCall}`)}`);
      expect(await textOf(page, "#verdict")).toMatch(/^Proven/);
      expect(await textOf(page, ".way")).toContain("quote");
    });

    it("finds what belongs to an id that a log line or a payer names", async () => {
      const page = await open("#/charges");
      const charge = await chargeOf(`calls/${history.settledCall}`);
      for (const [id, link] of [
        [history.settledCall, `#/charges/${charge}`],
        [charge, `#/charges/${charge}`],
        [history.absorbedPayer, `#/payers/${history.absorbedPayer}`],
      ]) {
        await page.getByRole("searchbox").fill(id ?? "");
        await page.keyboard.press("Enter");
        // Two of them lead to the same place: what is waited for is the page that was drawn for this id.
        await page.waitForSelector(`main:has(input[value='${id}']) a[href='${link}']`);
      }
      await page.getByRole("searchbox").fill("nothing/at all");
      await page.keyboard.press("Enter");
      await expect.poll(() => textOf(page, "main")).toContain("Nothing here is called nothing/at all.");
    });

    it("does not believe a receipt that was changed", async () => {
      const page = await open();
      await page.route("**/proof", async (route) => {
        const answer = await route.fetch();
        const proof = (await answer.json()) as { receipt: string };
        const [start, end] = [proof.receipt.slice(0, 2 + 64 * 4), proof.receipt.slice(2 + 64 * 5)];
        await route.fulfill({ json: { ...proof, receipt: `${start}${"1".padStart(64, "0")}${end}` } });
      });
      await go(page, `#/charges/${await chargeOf(`turns/${history.settledTurn}`)}`);
      expect(await textOf(page, "#verdict")).toMatch(/^The proof does not hold/);
    });

    it("shows failed and refused rows, debts, stakes, sessions, leases and an audit", async () => {
      const page = await open("#/tools");
      expect(await page.locator("main").textContent()).toContain("low stake");
      await go(page, "#/payers");
      expect(await textOf(page, "tbody tr")).toContain("refused until paid");
      await page.locator("tbody a").first().click();
      await arrived(page, "Payer");
      expect(await textOf(page, ".verdict")).toMatch(/still owed/);
      expect(await textOf(page, ".facts")).toMatch(
        /Balance\$1,000\.00Paid in advance\$0\.00Asked back of it\$0\.00Consentby its cap.*Spending cap\$0\.00/,
      );
      await go(page, "#/sessions");
      expect(await page.locator("main").textContent()).toContain(history.sessions.open);
      await go(page, "#/operators");
      expect(await page.locator("main").textContent()).toContain(daemon.config.holder);
      await go(page, "#/batches");
      await page.locator("tr", { hasText: "1 failed" }).locator("a").first().click();
      await arrived(page, "Batch");
      expect(await page.locator("main").textContent()).toContain("the spending cap is too small");
      await go(page, "#/audit");
      await page.getByRole("button", { name: "Run the audit" }).click();
      await expect.poll(() => page.locator("main").textContent(), PATIENTLY).toContain("The ledger is right");
    });

    it("shows tools by the names that the platform gives them, and those that nobody has used yet", async () => {
      const unused = "0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b";
      const used = uuidFromToolId(world.tools[1]?.toolId ?? "0x");
      for (const [toolId, name] of [
        [used, "Weather"],
        [unused, "<b>Maps</b>"],
      ]) {
        expect(await ask("POST", `/v1/tools/${toolId}`, { name })).toMatchObject({ status: 200, body: { name } });
      }
      const page = await open("#/tools");
      await expect.poll(() => page.locator("tbody").textContent(), PATIENTLY).toContain("<b>Maps</b>not listed");
      expect(await page.getByTitle(used).textContent()).toBe("Weather");
      await go(page, "#/charges");
      await expect.poll(() => page.locator("tbody").textContent(), PATIENTLY).toContain("Weather");
    });

    it("a tool has a page with what it earned, its stake, and what the marketplace says of it", async () => {
      const used = uuidFromToolId(world.tools[1]?.toolId ?? "0x");
      const page = await open("#/tools");
      await page.locator(`tbody a[href='#/tools/${used}']`).click();
      await page.waitForSelector(".facts");
      const facts = await textOf(page, ".facts");
      expect(facts).toMatch(/Earned by its developer\$\d+\.\d+.*Calls1,234Success98\.5 %Uptime99\.91 %/);
      expect(facts).toMatch(/Stake\$10\.00Stake required\$10\.00/);
      expect(await page.locator("tbody").textContent()).toContain("forecastOf a dayfast$0.002<b>raw</b>slownot sold");
      expect(await textOf(page, ".prose")).toBe(listing.description);
      const link = page.getByRole("link", { name: "How to call it" });
      expect(await link.getAttribute("href")).toBe(`http://127.0.0.1:${marketplace.port}/tools/${used}`);
      // One that the marketplace does not know has what the chain and the ledger say.
      const unstaked = await open(`#/tools/${uuidFromToolId(history.unstakedTool)}`, { expected: /404/ });
      expect(await textOf(unstaked, ".facts")).toMatch(/Statelow stake.*At the marketplacenothing is known of it/);
    });

    it("the page of the API loads without a complaint, and a request can be tried on it", async () => {
      const page = await open();
      await page.goto(`${daemon.url}/docs`);
      await page.getByRole("button", { name: "Authorize" }).click();
      const platform = page.locator(".auth-container", { hasText: "The service token" });
      await platform.locator("input").fill(SERVICE_TOKEN);
      await platform.locator("button[type=submit]").click();
      await page.locator(".btn-done").first().click();
      const operation = page.locator("#operations-preflight-post_v1_preflight");
      await operation.locator(".opblock-summary-control").click();
      await operation.getByRole("button", { name: "Execute" }).click();
      await operation.locator(".live-responses-table .response-col_status").first().waitFor();
      expect(await operation.locator(".live-responses-table").textContent()).toContain("insufficient_allowance");
    });

    it("shows everybody what is public, asks for the token elsewhere, and lets go of it on the way out", async () => {
      const page = await open("#/", { login: false, expected: /401/ });
      await go(page, "#/operators");
      expect(await page.locator("main").textContent()).not.toContain(daemon.config.holder);
      await go(page, "#/payers");
      expect(await page.locator("main").textContent()).not.toContain("0x");
      await page.getByLabel("Console token").fill("wrong");
      await page.keyboard.press("Enter");
      await expect.poll(() => textOf(page, ".problem")).toBe("This is not the console's token.");
      await page.getByLabel("Console token").fill(CONSOLE_TOKEN);
      await page.keyboard.press("Enter");
      await page.waitForSelector("tbody tr");
      expect(await page.evaluate(() => document.cookie)).toBe("");
      await page.getByRole("button", { name: "Log out" }).click();
      await page.waitForSelector("#token");
      await page.reload();
      await page.waitForSelector("#token");
    });

    it("a link with the token logs in, and leaves no token in the address", async () => {
      const page = await open("#/", { login: true });
      expect(page.url()).not.toContain(CONSOLE_TOKEN);
      expect(await page.evaluate(() => window.history.length)).toBeLessThanOrEqual(2);
      expect(await page.getByRole("button", { name: "Log out" }).count()).toBe(1);
      const other = await open("#/", { login: false, expected: /401/ });
      await other.goto("about:blank");
      await other.goto(`${daemon.url}/console#token=wrong`);
      await other.waitForSelector("#token");
      expect(other.url()).not.toContain("wrong");
    });

    it("reaches every view with the keyboard alone", async () => {
      const page = await open();
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the content");
      await page.keyboard.press("Enter");
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
      for (const view of VIEWS.toReversed()) {
        for (let presses = 0; presses < 20; presses++) {
          if ((await page.evaluate(() => document.activeElement?.textContent)) === view) break;
          await page.keyboard.press("Shift+Tab");
        }
        await page.keyboard.press("Enter");
        await page.waitForFunction((title) => {
          const { tagName, textContent } = document.activeElement ?? {};
          return tagName === "H1" && textContent === title;
        }, view);
      }
    });

    it("fits a phone: nothing is wider than the screen", async () => {
      const page = await open("#/", { width: 360 });
      for (const place of [...VIEWS.map(placeOf), ...(await onePages())]) {
        await go(page, place);
        const wide = await page.evaluate(() =>
          [...document.querySelectorAll("body *")]
            .filter(
              (element) => !element.closest(".unseen") && element.getBoundingClientRect().right > innerWidth + 0.5,
            )
            .map((element) => `${element.tagName} ${element.textContent?.slice(0, 40)}`),
        );
        expect(wide, place).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
      }
      await page.getByRole("button", { name: "Menu" }).click();
      await page.getByRole("link", { name: "Batches" }).click();
      await arrived(page, "Batches");
    });

    it("follows the system's light and dark, and the reader's own choice after that", async () => {
      const ground = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const light = await open("#/", { dark: false });
      const dark = await open("#/", { dark: true });
      const [bright, dim] = [await ground(light), await ground(dark)];
      expect(bright).not.toBe(dim);
      await dark.getByRole("button", { name: "Light" }).click();
      expect(await ground(dark)).toBe(bright);
      await dark.reload();
      await dark.waitForSelector("#settled");
      expect(await ground(dark)).toBe(bright);
    });

    it("can be read by everybody: names, headings, tables and contrast", async () => {
      const page = await open();
      for (const place of [...VIEWS.map(placeOf), ...(await onePages())]) {
        await go(page, place);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          expect(await page.evaluate(findFlaws), `${place} ${colorScheme}`).toEqual([]);
        }
      }
      const visitor = await open("#/payers", { login: false });
      expect(await visitor.evaluate(findFlaws)).toEqual([]);
    });

    it("says since when the daemon does not answer, keeps what it has, and goes on by itself", async () => {
      const page = await open("#/", { expected: /ERR_FAILED/ });
      const settled = await textOf(page, "#settled");
      await page.route("**/v1/**", (route) => route.abort());
      await expect
        .poll(() => textOf(page, "#notice"), PATIENTLY)
        .toMatch(/^The daemon does not answer\. What you see is [\d.]+ s old/);
      expect(await textOf(page, "#settled")).toBe(settled);
      await page.unroute("**/v1/**");
      // As if somebody came back to the tab, instead of waiting for the pause to end.
      await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
      await expect.poll(() => page.locator("#notice").textContent(), PATIENTLY).toBe("");
    });

    it("asks nothing while nobody looks", async () => {
      const page = await open();
      await page.clock.install();
      let asked = 0;
      page.on("request", () => {
        asked += 1;
      });
      await go(page, "#/batches");
      await page.clock.runFor(6_000);
      await expect.poll(() => asked).toBeGreaterThan(1);
      await page.evaluate(() => Object.defineProperty(document, "hidden", { value: true, configurable: true }));
      await page.clock.runFor(4_000);
      const before = asked;
      await page.clock.runFor(60_000);
      expect(asked).toBe(before);
      await page.evaluate(() => {
        Object.defineProperty(document, "hidden", { value: false });
        document.dispatchEvent(new Event("visibilitychange"));
      });
      await expect.poll(() => asked).toBeGreaterThan(before);
    });

    it("what a tool calls its method is a text, whatever it looks like", async () => {
      const method = "<img src=x onerror=alert(1)>";
      const call = {
        callId: "sly",
        sessionId: history.sessions.open,
        toolId: uuidFromToolId(world.tools[1]?.toolId ?? "0x"),
      };
      expect(await ask("POST", "/v1/calls", { ...call, method, priceUsd: "0.001" })).toMatchObject({ status: 200 });
      await ask("POST", "/v1/calls/sly/capture");
      const page = await open(`#/charges/${await chargeOf("calls/sly")}`);
      expect(await textOf(page, ".way")).toContain(method);
      expect(await page.locator("img").count()).toBe(0);
    });
  });
});
