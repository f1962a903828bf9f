import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encryptKeystoreJsonSync, id, Transaction, Wallet } from "ethers";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKeystore } from "./createKeystore.ts";
import { decryptKeystore, encryptKeystore } from "./keystore.ts";
import { openKeystoreSigner } from "./signer.ts";

const privateKey = id("operator") as Hex;
const wallet = new Wallet(privateKey);
// The first letters have more than one form in Unicode.
const PASSWORD = "pa\u0308\ufb01 🔑 of the operator";
// Weak on purpose: the strength is a number in the file, and the test has no secret.
const WEAK = { n: 1_024, r: 8, p: 1 };

const transaction = {
  chainId: 8453,
  nonce: 7,
  to: wallet.address as Hex,
  calldata: "0x1234",
  gasLimit: 100_000n,
  maxFeePerGas: 2_000_000_000n,
  maxPriorityFeePerGas: 1_000_000n,
} as const;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keystore-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("a keystore", () => {
  it("written by ethers is opened", async () => {
    const json = encryptKeystoreJsonSync(wallet, PASSWORD, { scrypt: { N: WEAK.n, r: WEAK.r, p: WEAK.p } });
    expect(await decryptKeystore(json, PASSWORD)).toBe(privateKey);
  });

  it("written here is opened by ethers", async () => {
    const json = await encryptKeystore(privateKey, PASSWORD, WEAK);
    expect((await Wallet.fromEncryptedJson(json, PASSWORD)).privateKey).toBe(privateKey);
  });

  it("of the specification's pbkdf2 example is opened", async () => {
    const json = JSON.stringify({
      crypto: {
        cipher: "aes-128-ctr",
        cipherparams: { iv: "6087dab2f9fdbbfaddc31a909735c1e6" },
        ciphertext: "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46",
        kdf: "pbkdf2",
        kdfparams: {
          c: 262144,
          dklen: 32,
          prf: "hmac-sha256",
          salt: "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd",
        },
        mac: "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2",
      },
      id: "3198bc9c-6672-5ab3-d995-4942343ae5b6",
      version: 3,
    });
    expect(await decryptKeystore(json, "testpassword")).toBe(
      "0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d",
    );
  });

  it("stays closed to a wrong password and to a changed byte", async () => {
    const json = await encryptKeystore(privateKey, PASSWORD, WEAK);
    const closed = { code: "invalid_key", message: expect.stringContaining("the password does not open the keystore") };
    await expect(decryptKeystore(json, "wrong")).rejects.toMatchObject(closed);
    const damaged = json.replace(/"ciphertext":"(.)/, (_, digit) => `"ciphertext":"${digit === "0" ? "1" : "0"}`);
    await expect(decryptKeystore(damaged, PASSWORD)).rejects.toMatchObject(closed);
  });

  it("that names another address than its key's is refused", async () => {
    const json = await encryptKeystore(privateKey, PASSWORD, WEAK);
    const renamed = json.replace(/"address":"[0-9a-f]{40}"/, `"address":"${"1".repeat(40)}"`);
    expect(renamed).not.toBe(json);
    await expect(decryptKeystore(renamed, PASSWORD)).rejects.toThrow("another address");
  });

  it.each([
    ["is not JSON", (_: string) => "{", "not JSON"],
    ["has another version", (json: string) => json.replace('"version":3', '"version":1'), "version"],
    ["has another cipher", (json: string) => json.replace("aes-128-ctr", "aes-128-cbc"), "crypto.cipher"],
    ["asks for 8 GiB of memory", (json: string) => json.replace('"n":1024', `"n":${2 ** 23}`), "bytes of memory"],
  ])("that %s is refused with the reason", async (_, change, reason) => {
    const json = await encryptKeystore(privateKey, PASSWORD, WEAK);
    await expect(decryptKeystore(change(json), PASSWORD)).rejects.toMatchObject({
      code: "invalid_key",
      message: expect.stringContaining(reason),
    });
  });

  it("file can be read by its owner only, does not hold the key, and signs what ethers signs", async () => {
    const path = join(folder, "operator.json");
    expect(await createKeystore({ path, password: PASSWORD, privateKey })).toEqual({ address: wallet.address });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, "utf8")).not.toContain(privateKey.slice(2));

    const signer = await openKeystoreSigner({ path, password: PASSWORD });
    expect(signer.address).toBe(wallet.address);
    const { raw, txHash } = await signer.sign(transaction);
    const { calldata: data, ...rest } = transaction;
    expect(raw).toBe(await wallet.signTransaction({ ...rest, data, type: 2 }));
    expect(Transaction.from(raw)).toMatchObject({ hash: txHash, from: wallet.address, nonce: 7 });
  });

  it("never replaces a file that exists", async () => {
    const path = join(folder, "taken.json");
    await writeFile(path, "another key");
    await expect(createKeystore({ path, password: PASSWORD, privateKey })).rejects.toMatchObject({
      code: "invalid_key",
      message: expect.stringContaining("it exists and may be the only copy of a key; name a new file"),
    });
    expect(await readFile(path, "utf8")).toBe("another key");
  });

  it("needs a password that nobody guesses, and a folder and a file that are there", async () => {
    const path = join(folder, "none.json");
    for (const password of ["", "1", "eleven char"]) {
      await expect(createKeystore({ path, password, privateKey })).rejects.toThrow(
        "SETTLEMENT_KEYSTORE_PASSWORD must have 12 characters or more",
      );
    }
    await expect(createKeystore({ path: join(path, "key.json"), password: PASSWORD, privateKey })).rejects.toThrow(
      `there is no folder ${path}; make it`,
    );
    await expect(openKeystoreSigner({ path, password: PASSWORD })).rejects.toThrow(
      `SETTLEMENT_KEYSTORES names ${path}, which cannot be read (ENOENT)`,
    );
    await writeFile(path, '{"name":"context-settlement","version":"1.0.0"}');
    await expect(openKeystoreSigner({ path, password: PASSWORD })).rejects.toThrow(
      `SETTLEMENT_KEYSTORES names ${path}: this is not a keystore of version 3`,
    );
  });
});
