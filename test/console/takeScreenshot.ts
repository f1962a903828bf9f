// Draws docs/console.png: the overview after ten minutes of traffic on a local chain, in a real browser.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWorld } from "../../scripts/world/startWorld.ts";
import { readArguments, withUsage } from "../../settlement/cli/readArguments.ts";
import { startTestDaemon } from "../local/daemon/testDaemon.ts";
import { openBrowser } from "./openBrowser.ts";
import { recordHistory } from "./recordHistory.ts";

const SCREENSHOT = "docs/console.png";
const CONSOLE_TOKEN = "console-token-of-the-screenshot-0123456789";

await withUsage("Usage: npm run screenshot", () => readArguments({}));

const folder = mkdtempSync(join(tmpdir(), "screenshot-"));
const [world, browser] = await Promise.all([startWorld({ tools: 9, payers: 60 }), openBrowser()]);
try {
  const ledger = join(folder, "ledger.db");
  await recordHistory(world, ledger, { minutes: 10, turns: 16, callsPerTurn: 24 });
  // The chain stands still meanwhile, as it does between two blocks.
  await world.rpc("evm_setAutomine", [false]);
  const daemon = await startTestDaemon(world, ledger, { environment: { SETTLEMENT_CONSOLE_TOKEN: CONSOLE_TOKEN } });
  try {
    const viewport = { width: 1280, height: 800 };
    const page = await browser.newPage({ viewport, colorScheme: "light", deviceScaleFactor: 1.5 });
    await page.goto(`${daemon.url}/console#token=${CONSOLE_TOKEN}`);
    await page.waitForSelector("#settled");
    await page.screenshot({ path: SCREENSHOT });
    console.log(`${SCREENSHOT}: ${Math.ceil(statSync(SCREENSHOT).size / 1024)} KiB`);
  } finally {
    await daemon.stop();
  }
} finally {
  await browser.close();
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
}
