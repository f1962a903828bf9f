import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, importX509, jwtVerify } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSigner } from "./createSigner.ts";
import { createKeyring, readKeyring, rotateKeyring } from "./keyring.ts";
import { watchKeyring } from "./watchKeyring.ts";

const issuer = "https://ctxprotocol.com";
const request = { endpoint: "https://tools.example.com/mcp", toolId: "6e0c4d0e-0000-4000-8000-000000000001" };

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "signing-"));
  path = join(folder, "keys.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

const clockAt = (nowMs: number) => ({ nowMs: () => nowMs });

describe("tokens", () => {
  it("have the claims that the SDKs check, and two minutes", async () => {
    const keyring = await createKeyring(path);
    const signer = createSigner({ issuer, keyring: () => keyring, clock: clockAt(1_800_000_000_500) });
    const token = await signer.sign(request);
    expect(decodeProtectedHeader(token)).toEqual({ alg: "RS256", kid: keyring.current.kid });
    expect(decodeJwt(token)).toEqual({
      iss: issuer,
      aud: request.endpoint,
      toolId: request.toolId,
      iat: 1_800_000_000,
      exp: 1_800_000_120,
    });
  });

  it("are verified by what is published, by n and e as by the certificate of the first key", async () => {
    const keyring = await createKeyring(path);
    const signer = createSigner({ issuer, keyring: () => keyring, clock: { nowMs: Date.now } });
    const token = await signer.sign(request);
    const jwks = await signer.jwks();
    const expected = { issuer, audience: request.endpoint };
    expect((await jwtVerify(token, createLocalJWKSet(jwks), expected)).payload).toMatchObject({
      toolId: request.toolId,
    });
    const [der = ""] = jwks.keys[0]?.x5c ?? [];
    const pem = `-----BEGIN CERTIFICATE-----\n${der}\n-----END CERTIFICATE-----`;
    expect((await jwtVerify(token, await importX509(pem, "RS256"), expected)).payload.iss).toBe(issuer);
    await expect(jwtVerify(token, createLocalJWKSet(jwks), { audience: `${request.endpoint}/` })).rejects.toThrow();
  });

  it("are used again for 90 seconds, and then signed again", async () => {
    const keyring = await createKeyring(path);
    let nowMs = 1_800_000_000_000;
    const signer = createSigner({ issuer, keyring: () => keyring, clock: { nowMs: () => nowMs } });
    const first = await signer.sign(request);
    nowMs += 89_000;
    expect(await signer.sign(request)).toBe(first);
    expect(await signer.sign({ ...request, toolId: "another" })).not.toBe(first);
    nowMs += 2_000;
    expect(await signer.sign(request)).not.toBe(first);
  });

  it("name a payer differently to each tool, the same after a rotation, and never by the address", async () => {
    let keyring = await createKeyring(path);
    const signer = createSigner({ issuer, keyring: () => keyring, clock: { nowMs: Date.now } });
    const payer = "0xAbCd000000000000000000000000000000000001";
    const subOf = async (toolId: string, who: string) =>
      decodeJwt(await signer.sign({ ...request, toolId, payer: who })).sub;
    const name = await subOf("one", payer);
    expect(name).toMatch(/^[0-9a-f]{32}$/);
    expect(await subOf("one", payer.toLowerCase())).toBe(name);
    expect(await subOf("two", payer)).not.toBe(name);
    keyring = await rotateKeyring(path);
    expect(await subOf("one", payer)).toBe(name);
  });
});

describe("keys", () => {
  it("are in a file that its owner alone can read, with certificates that are their own", async () => {
    const { current } = await createKeyring(path);
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
    const certificate = new X509Certificate(current.certificate);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.subject).toBe("CN=context-marketplace");
    expect(Date.parse(certificate.validTo)).toBeGreaterThan(Date.now());
    await expect(createKeyring(path)).rejects.toThrow("never overwritten");
  });

  it("rotate: published before they sign, and after they have signed, without their private part", async () => {
    const first = await createKeyring(path);
    const now = new Date();
    const second = await rotateKeyring(path, { now });
    expect(second.current).toEqual(first.next);
    expect(second.retired).toEqual([
      { kid: first.current.kid, certificate: first.current.certificate, retiredAt: now.toISOString() },
    ]);
    expect(readFileSync(path, "utf8")).not.toContain(first.current.privateKey.split("\n")[1]);
    const later = await rotateKeyring(path, { now: new Date(now.getTime() + 86_400_001) });
    expect(later.retired.map(({ kid }) => kid)).toEqual([second.current.kid]);
  });

  it("a token that was signed before a rotation is verified after it", async () => {
    await createKeyring(path);
    let nowMs = 0;
    const keyring = watchKeyring(path, { nowMs: () => nowMs });
    const signer = createSigner({ issuer, keyring, clock: { nowMs: Date.now } });
    const before = await signer.sign(request);
    const { current } = await rotateKeyring(path);
    nowMs = 10_000;
    const after = await signer.sign(request);
    expect(decodeProtectedHeader(after).kid).toBe(current.kid);
    const jwks = await signer.jwks();
    expect(jwks.keys[0]?.kid).toBe(current.kid);
    for (const token of [before, after]) await jwtVerify(token, createLocalJWKSet(jwks), { issuer });
  });

  it("a file that is damaged while the marketplace runs stops nobody, and is refused at a start", async () => {
    const { current } = await createKeyring(path);
    let nowMs = 0;
    const keyring = watchKeyring(path, { nowMs: () => nowMs });
    writeFileSync(path, "{}");
    nowMs = 10_000;
    expect(keyring().current).toEqual(current);
    expect(() => readKeyring(path)).toThrow("holds no signing keys");
  });

  it("a private key under somebody else's certificate is refused", async () => {
    const keyring = await createKeyring(path);
    writeFileSync(
      path,
      JSON.stringify({ ...keyring, current: { ...keyring.current, certificate: keyring.next.certificate } }),
    );
    expect(() => readKeyring(path)).toThrow("holds no signing keys");
  });
});
