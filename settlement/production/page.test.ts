import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
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
  expect(names.filter((name) => !settings.includes(name) && !inFiles.includes(name))).toEqual([]);
});

it("the file of settings on the page is one that the commands can read", () => {
  const [contents = ""] = all(page, /commands\.env <<'END'\n([\s\S]+?)\nEND/g);
  const folder = mkdtempSync(join(tmpdir(), "production-"));
  try {
    for (const [name, text] of [
      ["rpc-urls", "https://rpc.example"],
      ["keystore-password", "password"],
      ["service-token", "0123456789abcdef0123456789abcdef"],
    ] as const) {
      writeFileSync(join(folder, name), text);
    }
    const { SETTLEMENT_NETWORK, ...own } = parseEnv(contents.replaceAll("/etc/context-settlement", folder));
    expect(SETTLEMENT_NETWORK).toBe("base");
    // Everything but the deployment, which is not made up here.
    const chain = { SETTLEMENT_CHAIN_ID: "8453", SETTLEMENT_ROUTER: "0x5FbDB2315678afecb367f032d93F642f64180aa3" };
    expect(readConfig({ ...chain, ...own })).toMatchObject({
      ledger: "/var/lib/context-settlement/ledger.db",
      rpcUrls: ["https://rpc.example"],
      keys: [{ kind: "keystore", password: "password" }],
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it("every command and option on the page exists", () => {
  const cli = read("settlement/cli/runSettle.ts");
  const commands = all(page, /settle -- (\w+)/g);
  expect(commands.length).toBeGreaterThan(5);
  for (const name of commands) expect(cli).toContain(`name: "${name}"`);
  expect(read("settlement/cli/commands/reconcile.ts")).toContain("resume:");
});

it("every metric on the page is measured", () => {
  const metrics = read("settlement/daemon/observability/metrics.ts");
  const names = all(page, /\bsettlement_(\w+)/g);
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) expect(metrics).toMatch(new RegExp(`(gauge|counter|histogram)\\("${name}"`));
});

it("the proxy passes on the marketplace, and nothing that is for whoever runs it", () => {
  const [port = ""] = all(read("marketplace/config.ts"), /MARKETPLACE_LISTEN: listen\("[\d.]+:(\d+)"\)/g);
  expect(all(page, /proxy_pass http:\/\/127\.0\.0\.1:(\d+)/g)).toEqual([port]);
  const [kept = ""] = all(page, /location ~ \^\/\(([\w|]+)\)\$ \{\n {2}return 404/g);
  expect(kept.split("|")).toEqual(["health", "ready", "metrics"]);
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
