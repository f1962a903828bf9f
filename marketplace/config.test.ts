import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readMarketConfig, secretsOf } from "./config.ts";

const TOKEN = "a-token-of-the-daemon-0123456789abcdef";
const GIVEN = {
  MARKETPLACE_CHAIN_ID: "8453",
  MARKETPLACE_RPC_URLS: "https://rpc.example/key,http://127.0.0.1:8545",
  MARKETPLACE_ROUTER: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  MARKETPLACE_DATABASE: "postgres://market:secret@db.example/market",
  MARKETPLACE_PUBLIC_URL: "https://market.example/",
  MARKETPLACE_SETTLEMENT_URL: "http://127.0.0.1:8787/",
  MARKETPLACE_SETTLEMENT_TOKEN: TOKEN,
  MARKETPLACE_SIGNING_KEYS: "keys.json",
};

describe("the marketplace's settings", () => {
  it("are read with their defaults, and addresses lose the slash at their end", () => {
    expect(readMarketConfig(GIVEN)).toMatchObject({
      listen: { host: "127.0.0.1", port: 8788 },
      publicUrl: "https://market.example",
      issuer: "https://market.example",
      helpUrl: "https://market.example/help",
      maxFreeKeptBytes: 8_000_000,
      maxTotalKeptBytes: 8_192_000_000,
      maxFreeKeysPerDay: 10_000,
      maxTotalFreeKeys: 10_000_000,
      settlement: { url: "http://127.0.0.1:8787", token: TOKEN },
      sessionTtlMs: 1_200_000,
      privateEndpoints: false,
      trustedProxies: [],
    });
  });

  it.each(Object.keys(GIVEN))("without %s nothing starts, and it is named", (name) => {
    expect(() => readMarketConfig({ ...GIVEN, [name]: "" })).toThrow(`${name} is missing`);
  });

  it.each([
    ["MARKETPLACE_LISTEN", "8788", "must be host:port"],
    ["MARKETPLACE_PUBLIC_URL", "market.example", "must be an http or https URL"],
    ["MARKETPLACE_SETTLEMENT_TOKEN", "short", "must have 32 characters"],
    ["MARKETPLACE_PRIVATE_ENDPOINTS", "yes", 'must be "on" or "off"'],
    ["MARKETPLACE_TRUSTED_PROXIES", "10.0.0.1,proxy.internal", "must be addresses or ranges"],
    ["MARKETPLACE_TRUSTED_PROXIES", "10.0.0.0/33", "must be addresses or ranges"],
    ["MARKETPLACE_PORT", "1", "is not a setting; did you mean"],
  ])("%s of %s is refused, with a word on what it must be", (name, value, said) => {
    expect(() => readMarketConfig({ ...GIVEN, [name]: value })).toThrow(said);
  });

  it("never show a secret, and know what is one", () => {
    const wrong = { ...GIVEN, MARKETPLACE_CHAIN_ID: "base" };
    expect(() => readMarketConfig(wrong)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining(TOKEN) }),
    );
    const secrets = secretsOf(readMarketConfig(GIVEN));
    expect(secrets).toEqual([TOKEN, "https://rpc.example/key", GIVEN.MARKETPLACE_DATABASE, "secret"]);
  });

  it("have models with their prices and keys, and say what is wrong with a file of them", () => {
    const folder = mkdtempSync(join(tmpdir(), "market-config-"));
    const models = join(folder, "models.json");
    const read = (content: unknown) => {
      writeFileSync(models, typeof content === "string" ? content : JSON.stringify(content));
      return readMarketConfig({ ...GIVEN, MARKETPLACE_MODELS: models });
    };
    const model = {
      id: "one",
      url: "https://models.example/v1/",
      model: "one-large",
      keyFile: "one.key",
      inputUsdPerMillion: "0.60",
      outputUsdPerMillion: "2.50",
      maxCostUsd: "0.10",
    };
    try {
      expect(() => read([model])).toThrow(/one\.key cannot be read/);
      writeFileSync(join(folder, "one.key"), "key-of-one\n");
      const config = read([model]);
      expect(config.models).toEqual([
        {
          id: "one",
          url: "https://models.example/v1",
          model: "one-large",
          key: "key-of-one",
          inputPrice: 600_000n,
          outputPrice: 2_500_000n,
          maxCost: 100_000n,
        },
      ]);
      expect(secretsOf(config)).toContain("key-of-one");
      expect(() => read("{")).toThrow("it is not JSON");
      expect(() => read([model, model])).toThrow("names a model twice");
      expect(() => read([{ ...model, maxCostUsd: 0.1 }])).toThrow("0.maxCostUsd must be dollars as a text");
      expect(() => readMarketConfig({ ...GIVEN, MARKETPLACE_MODELS: join(folder, "none") })).toThrow("cannot be read");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("have a place for Python unless it is off, and know a folder of packages when they see one", () => {
    const read = (more: Record<string, string>) => readMarketConfig({ ...GIVEN, ...more }).interpreter;
    expect(read({})).toEqual({ backend: "pyodide", packages: null });
    expect(read({ MARKETPLACE_INTERPRETER: "bubblewrap" })).toMatchObject({ backend: "bubblewrap" });
    expect(read({ MARKETPLACE_INTERPRETER: "off" })).toBeNull();
    expect(() => read({ MARKETPLACE_INTERPRETER: "docker" })).toThrow('must be "pyodide", "bubblewrap" or "off"');
    expect(() => read({ MARKETPLACE_INTERPRETER_PACKAGES: tmpdir() })).toThrow("there is no pyodide-lock.json");
  });

  it("take secrets from files", () => {
    const folder = mkdtempSync(join(tmpdir(), "market-config-"));
    try {
      const path = join(folder, "token");
      writeFileSync(path, `${TOKEN}\n`);
      const { MARKETPLACE_SETTLEMENT_TOKEN: _, ...rest } = GIVEN;
      const config = readMarketConfig({ ...rest, MARKETPLACE_SETTLEMENT_TOKEN_FILE: path });
      expect(config.settlement.token).toBe(TOKEN);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
