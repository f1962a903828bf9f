import { createPrivateKey, generateKeyPair, type KeyObject, randomBytes, X509Certificate } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import { calculateJwkThumbprint, exportJWK } from "jose";
import { z } from "zod";
import { SettlementError } from "../../settlement/domain/errors.ts";
import { createCertificate } from "./createCertificate.ts";

// The keys with which the marketplace signs its requests to tools, in one file, so that it changes as a whole or not at all.
// `next` is published before it signs, so that tools know it by then; `retired` ones are published while tokens of them may
// still be on their way, without their private part, which nobody needs any more.
export type Keyring = {
  current: SigningKey;
  next: SigningKey;
  retired: readonly PublishedKey[];
  // Makes the names under which tools know payers; it stays when keys change, and so do the names.
  pseudonymSecret: string;
};

export type PublishedKey = { kid: string; certificate: string; retiredAt?: string | undefined };
export type SigningKey = PublishedKey & { privateKey: string };

const published = z.object({
  kid: z.string().min(1),
  certificate: z.string().min(1),
  retiredAt: z.string().optional(),
});
const signing = published.extend({ privateKey: z.string().min(1) });
const schema = z.object({
  current: signing,
  next: signing,
  retired: z.array(published),
  pseudonymSecret: z.string().min(32),
});

const MODULUS_BITS = 2_048;
const ONLY_OWNER = 0o600;
// A tool may keep what it has read for an hour, as the SDKs do; a day is plenty.
const PUBLISH_RETIRED_MS = 86_400_000;

const generate = promisify(generateKeyPair);

export function readKeyring(path: string): Keyring {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw invalid(`the signing keys in ${path} cannot be read; make them with the command signing-keys create`, cause);
  }
  try {
    const keyring = schema.parse(JSON.parse(text));
    for (const key of [keyring.current, keyring.next]) checkPair(key);
    return keyring;
  } catch (cause) {
    throw invalid(
      `${path} holds no signing keys; restore it, or make new ones with the command signing-keys create`,
      cause,
    );
  }
}

// Makes the first keys, in a file that must not be there yet.
export async function createKeyring(path: string, { now = new Date() }: { now?: Date } = {}): Promise<Keyring> {
  const [current, next] = await Promise.all([createKey(now), createKey(now)]);
  const keyring: Keyring = { current, next, retired: [], pseudonymSecret: randomBytes(32).toString("hex") };
  try {
    write(path, keyring, "wx");
  } catch (cause) {
    throw invalid(`${path} cannot be written, or is there already; keys are never overwritten`, cause);
  }
  return keyring;
}

// The next key signs from now on, a new one is published behind it, and the current one is retired.
export async function rotateKeyring(path: string, { now = new Date() }: { now?: Date } = {}): Promise<Keyring> {
  const { current, next, retired, pseudonymSecret } = readKeyring(path);
  const { kid, certificate } = current;
  const keyring: Keyring = {
    current: next,
    next: await createKey(now),
    retired: [
      { kid, certificate, retiredAt: now.toISOString() },
      ...retired.filter(({ retiredAt = "" }) => now.getTime() - Date.parse(retiredAt) < PUBLISH_RETIRED_MS),
    ],
    pseudonymSecret,
  };
  const fresh = `${path}.${process.pid}.new`;
  try {
    write(fresh, keyring, "wx");
    renameSync(fresh, path);
  } catch (cause) {
    rmSync(fresh, { force: true });
    throw invalid(`${path} cannot be replaced`, cause);
  }
  return keyring;
}

async function createKey(now: Date): Promise<SigningKey> {
  const { privateKey } = await generate("rsa", { modulusLength: MODULUS_BITS });
  const der = createCertificate(privateKey, { name: "context-marketplace", notBefore: now });
  const certificate = new X509Certificate(der);
  return {
    kid: await calculateJwkThumbprint(await exportJWK(certificate.publicKey)),
    certificate: certificate.toString(),
    privateKey: exportPem(privateKey),
  };
}

const exportPem = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" }).toString();

function checkPair({ kid, certificate, privateKey }: SigningKey): void {
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey))) {
    throw new Error(`the private key of ${kid} does not belong to its certificate`);
  }
}

// On the disk before anybody can read it under its name.
function write(path: string, keyring: Keyring, flag: "wx"): void {
  const file = openSync(path, flag, ONLY_OWNER);
  try {
    writeSync(file, `${JSON.stringify(keyring, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const invalid = (message: string, cause: unknown) => new SettlementError("invalid_config", message, { cause });
