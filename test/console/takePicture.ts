// Draws docs/console.png: the overview after ten minutes of traffic on a local chain, in a real browser.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startLocalChain } from "../local/localChain.ts";
import { startTestDaemon } from "../local/testDaemon.ts";
import { readArguments } from "../readArguments.ts";
import { openBrowser } from "./openBrowser.ts";
import { runTraffic } from "./runTraffic.ts";

const PICTURE = "docs/console.png";
const CONSOLE_TOKEN = "console-token-of-the-picture-0123456789";

readArguments({}, "Usage: npm run picture");

const folder = mkdtempSync(join(tmpdir(), "picture-"));
const [chain, browser] = await Promise.all([startLocalChain({ tools: 9, payers: 60 }), openBrowser()]);
try {
  const ledger = join(folder, "ledger.db");
  await runTraffic(chain, ledger, { minutes: 10, turns: 16, callsPerTurn: 24 });
  // The chain stands still meanwhile, as it does between two blocks.
  await chain.rpc("evm_setAutomine", [false]);
  const daemon = await startTestDaemon(chain, ledger, { environment: { SETTLEMENT_CONSOLE_TOKEN: CONSOLE_TOKEN } });
  try {
    const viewport = { width: 1280, height: 800 };
    const page = await browser.newPage({ viewport, colorScheme: "light", deviceScaleFactor: 1.5 });
    await page.goto(`${daemon.url}/console#token=${CONSOLE_TOKEN}`);
    await page.waitForSelector("#settled");
    await page.screenshot({ path: PICTURE });
    console.log(`${PICTURE}: ${Math.ceil(statSync(PICTURE).size / 1024)} KiB`);
  } finally {
    await daemon.stop();
  }
} finally {
  await browser.close();
  await chain.stop();
  rmSync(folder, { recursive: true, force: true });
}
