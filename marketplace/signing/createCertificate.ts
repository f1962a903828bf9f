import { createPublicKey, type KeyObject, randomBytes, sign } from "node:crypto";

// A self-signed certificate around a key. The SDKs read a platform's key from nothing else (`x5c`), and trust it because of
// where they got it; no chain, name or date in it means anything. Node can read certificates and not write them, and all of
// DER that this needs is below.
export function createCertificate(
  privateKey: KeyObject,
  { name, notBefore }: { name: string; notBefore: Date },
): Buffer {
  const notAfter = new Date(notBefore);
  notAfter.setUTCFullYear(notBefore.getUTCFullYear() + VALID_YEARS);
  const issuer = sequence(set(sequence(COMMON_NAME, tlv(0x0c, Buffer.from(name)))));
  const content = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    SHA256_WITH_RSA,
    issuer,
    sequence(time(notBefore), time(notAfter)),
    issuer,
    createPublicKey(privateKey).export({ type: "spki", format: "der" }),
  );
  const signature = sign("sha256", content, privateKey);
  return sequence(content, SHA256_WITH_RSA, tlv(0x03, Buffer.concat([Buffer.from([0]), signature])));
}

const VALID_YEARS = 10;

function tlv(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = length < 0x100 ? [length] : [length >> 8, length & 0xff];
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

const sequence = (...contents: Buffer[]) => tlv(0x30, ...contents);
const set = (...contents: Buffer[]) => tlv(0x31, ...contents);

// Positive: without its highest bit, and not beginning with a zero byte.
const integer = (bytes: Buffer) => tlv(0x02, Buffer.from([(bytes[0] ?? 0) & 0x7f || 1, ...bytes.subarray(1)]));

// Years have two digits before 2050 and four from then on, each under a tag of its own; strict readers insist on it.
function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/\D/g, "").slice(0, 14);
  return date.getUTCFullYear() < 2050
    ? tlv(0x17, Buffer.from(`${digits.slice(2)}Z`))
    : tlv(0x18, Buffer.from(`${digits}Z`));
}

const SHA256_WITH_RSA = Buffer.from("300d06092a864886f70d01010b0500", "hex");
const COMMON_NAME = Buffer.from("0603550403", "hex");
