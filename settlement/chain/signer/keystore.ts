import {
  createCipheriv,
  createDecipheriv,
  pbkdf2,
  randomBytes,
  randomUUID,
  scrypt,
  timingSafeEqual,
} from "node:crypto";
import { promisify } from "node:util";
import { bytesToHex, type Hex, hexToBytes, keccak256 } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { z } from "zod";
import { SettlementError } from "../../domain/errors.ts";

// Web3 Secret Storage, version 3: the file format that every Ethereum wallet reads and writes.

const KEY_BYTES = 32;
const CIPHER = "aes-128-ctr";

// The strength that geth and ethers use. It takes 128 MiB and about half a second.
const SCRYPT = { n: 2 ** 17, r: 8, p: 1 } as const;

// A file may ask for eight times as much and no more: whoever can change it should not be able to exhaust the machine.
const MAX_SCRYPT_BYTES = 2 ** 30;
const MAX_SCRYPT_LANES = 16;
const MAX_PBKDF2_ROUNDS = 10_000_000;

const hex = z.string().regex(/^(?:[0-9a-f]{2})*$/i);
const derivedKeyBytes = z.literal(KEY_BYTES);
const count = z.number().int().positive();

const keystoreSchema = z.object({
  version: z.literal(3),
  address: z
    .string()
    .regex(/^(?:0x)?[0-9a-f]{40}$/i)
    .optional(),
  crypto: z.intersection(
    z.object({
      cipher: z.literal(CIPHER),
      cipherparams: z.object({ iv: hex.length(32) }),
      ciphertext: hex.length(2 * KEY_BYTES),
      mac: hex.length(64),
    }),
    z.discriminatedUnion("kdf", [
      z.object({
        kdf: z.literal("scrypt"),
        kdfparams: z.object({ n: count, r: count, p: count.max(MAX_SCRYPT_LANES), dklen: derivedKeyBytes, salt: hex }),
      }),
      z.object({
        kdf: z.literal("pbkdf2"),
        kdfparams: z.object({
          c: count.max(MAX_PBKDF2_ROUNDS),
          prf: z.literal("hmac-sha256"),
          dklen: derivedKeyBytes,
          salt: hex,
        }),
      }),
    ]),
  ),
});

type Keystore = z.infer<typeof keystoreSchema>;

export async function decryptKeystore(json: string, password: string): Promise<Hex> {
  const { crypto, address } = parseKeystore(json);
  const derived = await derive(crypto, password);
  const ciphertext = Buffer.from(crypto.ciphertext, "hex");
  if (!timingSafeEqual(macOf(derived, ciphertext), Buffer.from(crypto.mac, "hex"))) {
    throw new SettlementError("invalid_key", "the password does not open the keystore, or the keystore was damaged");
  }
  const decipher = createDecipheriv(CIPHER, derived.subarray(0, 16), Buffer.from(crypto.cipherparams.iv, "hex"));
  const privateKey = bytesToHex(Buffer.concat([decipher.update(ciphertext), decipher.final()]));
  // The checksum above does not cover the address that the file claims to be for.
  if (address && !privateKeyToAddress(privateKey).toLowerCase().endsWith(address.slice(-40).toLowerCase())) {
    throw new SettlementError("invalid_key", "the keystore holds the key of another address than it says");
  }
  return privateKey;
}

export async function encryptKeystore(
  privateKey: Hex,
  password: string,
  params: { n: number; r: number; p: number } = SCRYPT,
): Promise<string> {
  const kdf = {
    kdf: "scrypt",
    kdfparams: { ...params, dklen: KEY_BYTES, salt: randomBytes(KEY_BYTES).toString("hex") },
  } as const;
  const derived = await derive(kdf, password);
  const iv = randomBytes(16);
  const cipher = createCipheriv(CIPHER, derived.subarray(0, 16), iv);
  const ciphertext = Buffer.concat([cipher.update(hexToBytes(privateKey)), cipher.final()]);
  return JSON.stringify({
    version: 3,
    id: randomUUID(),
    address: privateKeyToAddress(privateKey).slice(2).toLowerCase(),
    crypto: {
      cipher: CIPHER,
      cipherparams: { iv: iv.toString("hex") },
      ciphertext: ciphertext.toString("hex"),
      ...kdf,
      mac: Buffer.from(macOf(derived, ciphertext)).toString("hex"),
    },
  });
}

function parseKeystore(json: string): Keystore {
  let content: unknown;
  try {
    content = JSON.parse(json);
  } catch (cause) {
    throw new SettlementError(
      "invalid_key",
      "this is not a keystore, it is not JSON; settle -- keystore create makes one",
      { cause },
    );
  }
  const parsed = keystoreSchema.safeParse(withLowerCaseCrypto(content));
  if (!parsed.success) {
    const parts = parsed.error.issues.map((issue) => issue.path.join(".") || "the file");
    const where = [...new Set(parts)].join(", ");
    throw new SettlementError(
      "invalid_key",
      `this is not a keystore of version 3, see ${where}; settle -- keystore create makes one`,
    );
  }
  return parsed.data;
}

// ethers writes the name of this part with a capital.
function withLowerCaseCrypto(content: unknown): unknown {
  if (typeof content !== "object" || content === null || !("Crypto" in content)) return content;
  const { Crypto: crypto, ...rest } = content;
  return { crypto, ...rest };
}

type Kdf =
  | { kdf: "scrypt"; kdfparams: { n: number; r: number; p: number; dklen: number; salt: string } }
  | { kdf: "pbkdf2"; kdfparams: { c: number; dklen: number; salt: string } };

const deriveScrypt = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);
const derivePbkdf2 = promisify(pbkdf2);

async function derive(kdf: Kdf, password: string): Promise<Buffer> {
  const salt = Buffer.from(kdf.kdfparams.salt, "hex");
  // Other wallets take the password in this form of Unicode, so that the same letters are the same password.
  const secret = password.normalize("NFKC");
  if (kdf.kdf === "pbkdf2") return derivePbkdf2(secret, salt, kdf.kdfparams.c, kdf.kdfparams.dklen, "sha256");
  const { n, r, p, dklen } = kdf.kdfparams;
  // Scrypt needs 128 bytes for each of n × r, and a little beside.
  if (128 * n * r > MAX_SCRYPT_BYTES) {
    throw new SettlementError("invalid_key", `the keystore asks for ${128 * n * r} bytes of memory to be opened`);
  }
  return deriveScrypt(secret, salt, dklen, { N: n, r, p, maxmem: 128 * r * (n + p + 2) + 2 ** 20 });
}

function macOf(derived: Buffer, ciphertext: Buffer): Uint8Array {
  return keccak256(Buffer.concat([derived.subarray(16, 32), ciphertext]), "bytes");
}
