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

it.each(["mysql://db/settlement", "file:ledger.db", "MongoDB://x"])("the ledger cannot be %s", (location) => {
  expect(() => readConfig({ ...complete, SETTLEMENT_LEDGER: location })).toThrow(
    "SETTLEMENT_LEDGER must be a file or a postgres:// address",
  );
});

it.each([
  ["SETTLEMENT_TICK_MS", "1e99", "SETTLEMENT_TICK_MS must be a whole number from 50 to 60000"],
  ["SETTLEMENT_RPC_URLS", ",", "SETTLEMENT_RPC_URLS has an empty entry"],
  ["SETTLEMENT_HOLDER", "h".repeat(201), "SETTLEMENT_HOLDER must have at most 200 characters"],
  ["SETTLEMENT_CHAIN_ID", "1.5", "SETTLEMENT_CHAIN_ID must be a number, like 8453 for Base"],
  ["SETTLEMENT_CHAIN_ID", "0", "SETTLEMENT_CHAIN_ID must be a number, like 8453 for Base"],
])("what is wrong with %s=%s is said once, in words of ours", (name, value, sentence) => {
  expect(() => readConfig({ ...complete, [name]: value })).toThrow(
    expect.objectContaining({ code: "invalid_config", message: sentence }),
  );
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
    ["manager", "staking", "bonds", "router", "receiptCourt", "jsonSchema", "schemaCourt"].map((name) => [
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

it.each([
  ["SETTLEMENT_SERVICE_TOKN", "SETTLEMENT_SERVICE_TOKEN"],
  ["SETTLEMENT_SERVICE_TOKEN_FILES", "SETTLEMENT_SERVICE_TOKEN_FILE"],
  ["SETTLEMENT_RPC_URL", "SETTLEMENT_RPC_URLS"],
  ["SETTLEMENT_TICKMS", "SETTLEMENT_TICK_MS"],
])("refuses %s, which is no setting, and names %s", (name, meant) => {
  expect(() => readConfig({ ...complete, [name]: "x" })).toThrow(`${name} is not a setting; did you mean ${meant}?`);
});

it("refuses one token for the platform and the console, and shows neither", () => {
  const token = "t".repeat(32);
  const given = { ...complete, SETTLEMENT_SERVICE_TOKEN: token, SETTLEMENT_CONSOLE_TOKEN: token };
  expect(() => readConfig(given)).toThrow("SETTLEMENT_CONSOLE_TOKEN is the same as SETTLEMENT_SERVICE_TOKEN");
  expect(() => readConfig(given)).not.toThrow(token);
});

it.each([
  ["SETTLEMENT_LISTEN", "8787", "must be host:port"],
  ["SETTLEMENT_LISTEN", "127.0.0.1:70000", "has a port above 65535"],
  ["SETTLEMENT_SERVICE_TOKEN", "short", "must have 32 characters or more"],
  ["SETTLEMENT_TICK_MS", "soon", "must be a whole number from 50 to 60000"],
  ["SETTLEMENT_LOG_LEVEL", "loud", "must be one of"],
  ["SETTLEMENT_MIN_OPERATOR_ETH", "-1", "must be a number of ether"],
  ["SETTLEMENT_FLUSH_USD", "0", "must be dollars above zero"],
  ["SETTLEMENT_PAYOUT_USD", "1e3", "must be dollars above zero"],
  ["SETTLEMENT_MAX_FEE_GWEI", "-5", "must be a number of gwei"],
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
  const { sessionTtlMs, flush, batch, admission, firstRetryMs, payoutEveryMs, payoutThreshold, maxFeePerGasCeiling } =
    DEFAULT_POLICY;
  const retries = { firstRetryMs, payoutEveryMs, payoutThreshold, maxFeePerGasCeiling };
  const { credit, absorptionBps, archive } = DEFAULT_POLICY;
  const policy = { sessionTtlMs, flush, batch, admission, credit, absorptionBps, ...retries, archive };
  expect(policyOf(readConfig(complete))).toEqual(policy);
  const set = { SETTLEMENT_FLUSH_CALLS: "3", SETTLEMENT_FLUSH_USD: "0.25", SETTLEMENT_MAX_FEE_GWEI: "0.5" };
  expect(policyOf(readConfig({ ...complete, ...set }))).toEqual({
    ...policy,
    flush: { ...flush, maxCount: 3, maxAmount: 250_000n },
    maxFeePerGasCeiling: 500_000_000n,
  });
});
