import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readConfig, secretsOf } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(name: string, contents: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof contents === "string" ? contents : JSON.stringify(contents));
  return path;
}

const complete = {
  SETTLEMENT_CHAIN_ID: "31337",
  SETTLEMENT_RPC_URLS: "http://127.0.0.1:8545, https://rpc.example/key",
  SETTLEMENT_ROUTER: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  SETTLEMENT_LEDGER: "settlement.db",
  SETTLEMENT_OPERATOR_KEYS: `0x${"1".repeat(64)}`,
};

it("reads a complete environment", () => {
  expect(readConfig(complete)).toMatchObject({
    chainId: 31337,
    rpcUrls: ["http://127.0.0.1:8545", "https://rpc.example/key"],
    router: complete.SETTLEMENT_ROUTER,
    ledger: "settlement.db",
    keys: [{ kind: "plain", privateKey: complete.SETTLEMENT_OPERATOR_KEYS }],
  });
});

it.each(["SETTLEMENT_CHAIN_ID", "SETTLEMENT_RPC_URLS", "SETTLEMENT_ROUTER", "SETTLEMENT_LEDGER"])(
  "names %s when it is missing",
  (name) => {
    expect(() => readConfig({ ...complete, [name]: undefined })).toThrow(`${name} is missing`);
  },
);

it("never shows the value of a variable, which may be a secret", () => {
  const secret = "0xnot-a-key-but-secret";
  expect(() => readConfig({ ...complete, SETTLEMENT_OPERATOR_KEYS: secret })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining(secret) }),
  );
});

it("refuses a plain key on a chain with real money and names the way out", () => {
  expect(() => readConfig({ ...complete, SETTLEMENT_CHAIN_ID: "8453" })).toThrow(
    /SETTLEMENT_OPERATOR_KEYS is for chain 31337 only; put the key into a keystore/,
  );
});

it("asks for the password when there are keystores", () => {
  expect(() => readConfig({ ...complete, SETTLEMENT_KEYSTORES: "operator.json" })).toThrow(
    /SETTLEMENT_KEYSTORE_PASSWORD is missing/,
  );
});

it("reads a file, and takes from the environment what is in both", () => {
  const { SETTLEMENT_RPC_URLS: _, ...rest } = complete;
  const path = fileOf("settlement.json", {
    chainId: 1,
    rpcUrls: ["https://one.example", "https://two.example"],
    listen: "0.0.0.0:9000",
    tickMs: 250,
  });
  expect(readConfig({ ...rest, SETTLEMENT_CONFIG: path })).toMatchObject({
    chainId: 31337,
    rpcUrls: ["https://one.example", "https://two.example"],
    listen: { host: "0.0.0.0", port: 9000 },
    tickMs: 250,
  });
});

it.each([
  ["a name that it does not know", { rpcUrl: "https://one.example" }, 'has "rpcUrl", which is no setting'],
  ["a value of another kind", { chainId: { id: 1 } }, 'a "chainId" that is no text'],
  ["no object", [], "has to hold one object"],
  ["no JSON", "{", "cannot be read as JSON"],
])("refuses a file with %s", (name, contents, message) => {
  const path = fileOf(`${name}.json`, contents);
  expect(() => readConfig({ ...complete, SETTLEMENT_CONFIG: path })).toThrow(message);
});

it.each([
  ["SETTLEMENT_LISTEN", "8787", "has to be host:port"],
  ["SETTLEMENT_LISTEN", "127.0.0.1:70000", "has a port above 65535"],
  ["SETTLEMENT_SERVICE_TOKEN", "short", "has to have 32 characters or more"],
  ["SETTLEMENT_TICK_MS", "soon", "has to be a whole number from 50 to 60000"],
  ["SETTLEMENT_LOG_LEVEL", "loud", "has to be one of"],
  ["SETTLEMENT_MIN_OPERATOR_ETH", "-1", "has to be a number of ether"],
  ["SETTLEMENT_ALERT_WEBHOOK_URL", "https://alerts.example", "SETTLEMENT_ALERT_WEBHOOK_SECRET is missing"],
])("refuses %s=%s and says why", (name, value, message) => {
  expect(() => readConfig({ ...complete, [name]: value })).toThrow(message);
});

it("lists every secret that it holds, so that logs can be filtered", () => {
  const secrets = {
    SETTLEMENT_SERVICE_TOKEN: "t".repeat(32),
    SETTLEMENT_CONSOLE_TOKEN: "c".repeat(32),
    SETTLEMENT_ALERT_WEBHOOK_URL: "https://alerts.example/hook",
    SETTLEMENT_ALERT_WEBHOOK_SECRET: "s".repeat(32),
    SETTLEMENT_KEYSTORES: "operator.json",
    SETTLEMENT_KEYSTORE_PASSWORD: "the keystore's password",
  };
  const listed = secretsOf(readConfig({ ...complete, ...secrets, SETTLEMENT_LEDGER: "postgres://u:hidden@db/x" }));
  const { SETTLEMENT_KEYSTORES: _, ...values } = secrets;
  for (const value of [
    ...Object.values(values),
    complete.SETTLEMENT_OPERATOR_KEYS,
    "https://rpc.example/key",
    "hidden",
  ]) {
    expect(listed).toContain(value);
  }
});
