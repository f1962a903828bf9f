import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sparticuz from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";
import { unpackChromium } from "./unpackChromium.ts";

// The package starts Chromium as one process, as a small machine in a cloud wants it, and that ends with its first window.
const UNWANTED = new Set(["--single-process", "--no-zygote"]);
// It stays at home.
const QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync"];

// A real Chromium out of node_modules, with the font that comes along, so that text is as wide on every machine.
export async function openBrowser(): Promise<Browser> {
  const home = await unpackChromium();
  const folder = mkdtempSync(join(tmpdir(), "fonts-"));
  const file = join(folder, "fonts.conf");
  writeFileSync(file, fontsOf(join(home, "fonts"), folder));
  const browser = await chromium.launch({
    executablePath: join(home, "chromium"),
    args: [...sparticuz.args.filter((argument) => !UNWANTED.has(argument)), ...QUIET],
    env: { ...process.env, FONTCONFIG_FILE: file },
  });
  browser.on("disconnected", () => rmSync(folder, { recursive: true, force: true }));
  return browser;
}

function fontsOf(fonts: string, cache: string): string {
  const preferred = ["sans-serif", "system-ui"].map(
    (family) => `<alias binding="strong"><family>${family}</family><prefer><family>Open Sans</family></prefer></alias>`,
  );
  return `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<dir>${fonts}</dir><dir>/usr/share/fonts</dir><cachedir>${cache}</cachedir>${preferred.join("")}
</fontconfig>`;
}
