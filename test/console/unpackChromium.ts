import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import sparticuz from "@sparticuz/chromium";

const PACKAGE = "node_modules/@sparticuz/chromium/package.json";
const CACHE = resolve("node_modules", ".cache");

// The folder of the browser and its fonts. The package unpacks into the folder for temporary files that all users share, and
// takes whatever is there by its name: another user's, another version's, or half of one. Here it is the clone's own.
export async function unpackChromium(): Promise<string> {
  const { version } = JSON.parse(readFileSync(PACKAGE, "utf8"));
  const folder = join(CACHE, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(`${folder}-`);
  try {
    await unpackInto(draft);
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Somebody else was faster.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

async function unpackInto(folder: string): Promise<void> {
  const { TMPDIR } = process.env;
  process.env.TMPDIR = folder;
  try {
    await sparticuz.executablePath();
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
}
