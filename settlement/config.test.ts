import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { policyOf, readConfig, secretsOf } from "./config.ts";
import { DEFAULT_POLICY } from "./engine/policy.ts";

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

const record = {
  network: "base",
  chainId: 8453,
  usdc: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  deployer: complete.SETTLEMENT_ROUTER,
  label: "context",
  contracts: Object.fromEntries(
    ["manager", "staking", "router"].map((name) => [
      name,
      { address: complete.SETTLEMENT_ROUTER, block: 27_000_000, arguments: [] },
    ]),
  ),
  parties: Object.fromEntries(
    ["admin", "treasury", "insurance", "guardian", "adjudicator", "operator"].map((name) => [
      name,
      complete.SETTLEMENT_ROUTER,
    ]),
  ),
  adminDelaySeconds: 691_200,
  operatorLimits: {},
  parameters: { minimumStake: "10000000", stakeMultiplier: "100", bountyBps: "1000" },
  compiler: { version: "0.8.37", settings: {} },
  commit: "unknown",
};
const { SETTLEMENT_CHAIN_ID: _chain, SETTLEMENT_ROUTER: _router, SETTLEMENT_OPERATOR_KEYS: _keys, ...rest } = complete;

it("takes the chain, the router and its block from the record of a deployment", () => {
  const path = fileOf("base.json", record);
  expect(readConfig({ ...rest, SETTLEMENT_NETWORK: path })).toMatchObject({
    chainId: 8453,
    router: complete.SETTLEMENT_ROUTER,
    fromBlock: 27_000_000n,
  });
  // Saying the same again is no contradiction, in whatever case the address is.
  const same = { SETTLEMENT_CHAIN_ID: "8453", SETTLEMENT_ROUTER: complete.SETTLEMENT_ROUTER.toLowerCase() };
  expect(readConfig({ ...rest, ...same, SETTLEMENT_NETWORK: path, SETTLEMENT_FROM_BLOCK: "5" }).fromBlock).toBe(5n);
});

it.each([
  ["SETTLEMENT_CHAIN_ID", "84532", "SETTLEMENT_CHAIN_ID is 84532, and SETTLEMENT_NETWORK names the deployment on base"],
  ["SETTLEMENT_ROUTER", "0x00000000000000000000000000000000000000ff", "SETTLEMENT_ROUTER is 0x00000000000000000000"],
])("refuses a network that contradicts %s, and names both", (name, value, message) => {
  const path = fileOf("base.json", record);
  expect(() => readConfig({ ...rest, SETTLEMENT_NETWORK: path, [name]: value })).toThrow(message);
});

it.each([
  ["atlantis", "deployments/atlantis.json cannot be read; npx hardhat deploy --network atlantis makes it"],
  [fileOf("torn.json", "{"), "torn.json is not JSON"],
  [fileOf("half.json", { ...record, contracts: {} }), "is not a deployment record (contracts.manager is wrong)"],
])("refuses the network %s and says what to do", (network, message) => {
  expect(() => readConfig({ ...rest, SETTLEMENT_NETWORK: network })).toThrow(message);
});

it("says that a network would name what is missing", () => {
  expect(() => readConfig(rest)).toThrow("SETTLEMENT_ROUTER is missing, and so is SETTLEMENT_NETWORK");
});

it("reads secrets out of files, without the line break at their end", () => {
  const token = "t".repeat(32);
  const given = {
    ...complete,
    SETTLEMENT_LEDGER: undefined,
    SETTLEMENT_LEDGER_FILE: fileOf("ledger", "postgres://u:hidden@db/x\n"),
    SETTLEMENT_SERVICE_TOKEN_FILE: fileOf("token", `${token}\n`),
    SETTLEMENT_KEYSTORES: "operator.json",
    SETTLEMENT_KEYSTORE_PASSWORD_FILE: fileOf("password", " spaces count "),
  };
  const config = readConfig(given);
  expect(config).toMatchObject({ serviceToken: token, ledger: "postgres://u:hidden@db/x" });
  expect(config.keys[0]).toEqual({ kind: "keystore", path: "operator.json", password: " spaces count " });
  expect(secretsOf(config)).toContain("hidden");
  const path = fileOf("with-secrets.json", { serviceTokenFile: given.SETTLEMENT_SERVICE_TOKEN_FILE });
  expect(readConfig({ ...complete, SETTLEMENT_CONFIG: path }).serviceToken).toBe(token);
});

it.each([
  ["both are set", { SETTLEMENT_SERVICE_TOKEN: "t".repeat(32) }, "are both set; keep one of them"],
  ["it is not there", { SETTLEMENT_SERVICE_TOKEN_FILE: join(folder, "none") }, "none cannot be read (ENOENT)"],
  ["it is empty", { SETTLEMENT_SERVICE_TOKEN_FILE: fileOf("empty", "\n") }, "empty is empty"],
  ["the secret is too short", { SETTLEMENT_SERVICE_TOKEN_FILE: fileOf("short", "short") }, "32 characters or more"],
])("refuses a file of a secret when %s, and shows no secret", (_, fields, message) => {
  const given = { ...complete, SETTLEMENT_SERVICE_TOKEN_FILE: fileOf("any", "s".repeat(32)), ...fields };
  expect(() => readConfig(given)).toThrow(message);
  expect(() => readConfig(given)).not.toThrow(/t{32}|s{32}/);
});

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
  ["SETTLEMENT_FLUSH_USD", "0", "has to be dollars above zero"],
  ["SETTLEMENT_PAYOUT_USD", "1e3", "has to be dollars above zero"],
  ["SETTLEMENT_MAX_FEE_GWEI", "-5", "has to be a number of gwei"],
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

it("has the engine's own policy unless a setting says otherwise", () => {
  const { sessionTtlMs, flush, firstRetryMs, payoutEveryMs, payoutThreshold, maxFeePerGasCeiling } = DEFAULT_POLICY;
  const policy = { sessionTtlMs, flush, firstRetryMs, payoutEveryMs, payoutThreshold, maxFeePerGasCeiling };
  expect(policyOf(readConfig(complete))).toEqual(policy);
  const set = { SETTLEMENT_FLUSH_CALLS: "3", SETTLEMENT_FLUSH_USD: "0.25", SETTLEMENT_MAX_FEE_GWEI: "0.5" };
  expect(policyOf(readConfig({ ...complete, ...set }))).toEqual({
    ...policy,
    flush: { ...flush, maxCount: 3, maxAmount: 250_000n },
    maxFeePerGasCeiling: 500_000_000n,
  });
});
