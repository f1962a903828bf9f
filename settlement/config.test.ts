import { expect, it } from "vitest";
import { readConfig } from "./config.ts";

const complete = {
  SETTLEMENT_CHAIN_ID: "31337",
  SETTLEMENT_RPC_URLS: "http://127.0.0.1:8545, https://rpc.example/key",
  SETTLEMENT_ROUTER: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  SETTLEMENT_LEDGER: "settlement.db",
  SETTLEMENT_OPERATOR_KEYS: `0x${"1".repeat(64)}`,
};

it("reads a complete environment", () => {
  expect(readConfig(complete)).toEqual({
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
