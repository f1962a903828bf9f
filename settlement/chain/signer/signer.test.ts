import { id, Wallet } from "ethers";
import type { Hex } from "viem";
import { describe, expect, it } from "vitest";
import { createSigner, withTimeout } from "./signer.ts";

const privateKey = id("operator") as Hex;
const wallet = new Wallet(privateKey);

const transaction = {
  chainId: 8453,
  nonce: 7,
  to: wallet.address as Hex,
  calldata: "0x1234",
  gasLimit: 100_000n,
  maxFeePerGas: 2_000_000_000n,
  maxPriorityFeePerGas: 1_000_000n,
} as const;

describe("a key from the environment", () => {
  it("signs what ethers signs", async () => {
    const signer = createSigner(privateKey);
    const { calldata: data, ...rest } = transaction;
    expect((await signer.sign(transaction)).raw).toBe(await wallet.signTransaction({ ...rest, data, type: 2 }));
  });

  it.each([
    ["too short", privateKey.slice(0, -1)],
    ["without 0x", privateKey.slice(2)],
    ["zero", `0x${"0".repeat(64)}`],
    ["beyond the curve's order", `0x${"f".repeat(64)}`],
  ])("that is %s is refused without being repeated", (_, key) => {
    expect(() => createSigner(key)).toThrow(expect.objectContaining({ code: "invalid_key" }));
    expect(() => createSigner(key)).not.toThrow(key);
  });
});

describe("a signer with a timeout", () => {
  it("signs what the signer behind it signs", async () => {
    const signer = createSigner(privateKey);
    expect(await withTimeout(signer, 60_000).sign(transaction)).toEqual(await signer.sign(transaction));
  });

  it("that does not answer is unavailable, and worth another try", async () => {
    const silent = { address: wallet.address as Hex, sign: () => new Promise<never>(() => {}) };
    await expect(withTimeout(silent, 1).sign(transaction)).rejects.toMatchObject({
      code: "signer_unavailable",
      retryable: true,
    });
  });
});
