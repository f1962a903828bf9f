import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readConfig } from "../config.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const page = read("docs/production.md");
const unit = read("settlement/production/context-settlement.service");
const all = (text: string, pattern: RegExp) => [
  ...new Set([...text.matchAll(pattern)].map(([, found]) => found ?? "")),
];

it("every setting on the page and in the unit exists", () => {
  const config = read("settlement/config.ts");
  const names = [...all(page, /\b(SETTLEMENT_[A-Z_]+)\b/g), ...all(unit, /\b(SETTLEMENT_[A-Z_]+)\b/g)];
  expect(names.length).toBeGreaterThan(5);
  const settings = all(config, /^ {2}(SETTLEMENT_\w+):/gm);
  const inFiles = all(config, /^ {2}"(SETTLEMENT_\w+)",$/gm).map((name) => `${name}_FILE`);
  expect(
    names.filter((name) => name !== "SETTLEMENT_CONFIG" && !settings.includes(name) && !inFiles.includes(name)),
  ).toEqual([]);
});

it("the file of settings on the page is one that the commands can read", () => {
  const [contents = ""] = all(page, /settlement\.json <<'END'\n([\s\S]+?)\nEND/g);
  const folder = mkdtempSync(join(tmpdir(), "production-"));
  try {
    for (const [name, text] of [
      ["rpc-urls", "https://rpc.example"],
      ["keystore-password", "password"],
    ] as const) {
      writeFileSync(join(folder, name), text);
    }
    const record = join(folder, "base.json");
    writeFileSync(record, "{}");
    const path = join(folder, "settlement.json");
    writeFileSync(
      path,
      contents.replaceAll("/etc/context-settlement", folder).replace('"base"', JSON.stringify(record)),
    );
    // Everything but the deployment, which is not made up here.
    expect(() => readConfig({ SETTLEMENT_CONFIG: path })).toThrow("base.json is not a deployment record");
    const chain = { SETTLEMENT_CHAIN_ID: "8453", SETTLEMENT_ROUTER: "0x5FbDB2315678afecb367f032d93F642f64180aa3" };
    writeFileSync(path, contents.replaceAll("/etc/context-settlement", folder).replace('"network": "base",', ""));
    expect(readConfig({ ...chain, SETTLEMENT_CONFIG: path })).toMatchObject({
      ledger: "/var/lib/context-settlement/ledger.db",
      rpcUrls: ["https://rpc.example"],
      keys: [{ kind: "keystore", password: "password" }],
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it("every command and option on the page exists", () => {
  const cli = read("settlement/cli/index.ts");
  const commands = all(page, /settle -- (\w+)/g);
  expect(commands.length).toBeGreaterThan(5);
  for (const name of commands) expect(cli).toContain(`name: "${name}"`);
  expect(read("settlement/cli/commands/reconcile.ts")).toContain("resume:");
});

it("every metric on the page is measured", () => {
  const metrics = read("settlement/daemon/metrics.ts");
  const names = all(page, /\bsettlement_(\w+)/g);
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) expect(metrics).toMatch(new RegExp(`(gauge|counter|histogram)\\("${name}"`));
});

it("every credential that the unit hands over is used, and every one that is used is handed over", () => {
  const used = all(unit, /=%d\/([\w-]+)/g);
  expect(all(unit, /^LoadCredential=([\w-]+):/gm).sort()).toEqual(used.sort());
  // The page makes each of these files.
  for (const path of all(unit, /^LoadCredential=[\w-]+:(\S+)$/gm)) expect(page).toContain(path);
});

it("what the page links to is there", () => {
  const links = all(page, /\]\(([^)#]+)(?:#[^)]*)?\)/g);
  expect(links.filter((link) => !existsSync(join(ROOT, "docs", link)))).toEqual([]);
});
