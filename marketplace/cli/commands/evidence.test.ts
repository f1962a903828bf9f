import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NO_HASH } from "../../../settlement/domain/charges/charge.ts";
import { openStore, type Store } from "../../database/openStore.ts";
import { type Evidence, findEvidence, forgetEvidence, keepEvidence, listEvidence } from "../../execute/evidence.ts";
import { evidence as command } from "./evidence.ts";

const DAY_MS = 24 * 3_600_000;
const NOW_MS = 1_800_000_000_000;
const SIGNED = { chargeId: NO_HASH, signature: "0x1234" };

const CONVICTION = { schema: { type: "object" }, content: { price: -1 }, answer: SIGNED };

const answerOf = (callId: string, changes: Partial<Evidence> = {}): Evidence => ({
  callId,
  toolId: "tool",
  method: "quote",
  account: "0x0000000000000000000000000000000000000001",
  hashes: { requestHash: NO_HASH, responseHash: NO_HASH, schemaHash: NO_HASH },
  problem: "/price must be >= 0",
  request: "{}",
  response: '{"price":-1}',
  outputSchema: '{"type":"object"}',
  signedAnswer: SIGNED,
  ...changes,
});

describe("answers that broke a promise", () => {
  let folder: string;
  let path: string;
  let store: Store;

  const keep = (callId: string, changes: Partial<Evidence> = {}, atMs = NOW_MS) =>
    store.shared((sql) => keepEvidence(sql, answerOf(callId, changes), atMs));
  const kept = async (toolId = "tool") =>
    (await listEvidence(store.read, { toolId }, 1_000)).map(({ callId }) => callId);

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "evidence-"));
    path = join(folder, "marketplace.db");
    store = await openStore(path);
  });

  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("are kept with what a conviction needs, and said to lack it if they do", async () => {
    await keep("signed");
    await keep("unsigned", { signedAnswer: undefined });
    await keep("huge", { response: JSON.stringify("a".repeat(2_000_000)) });
    expect(await findEvidence(store.read, "signed")).toMatchObject({ ...CONVICTION, isSigned: true });
    for (const callId of ["unsigned", "huge"]) {
      expect(await findEvidence(store.read, callId)).toMatchObject({ isSigned: false });
    }
    expect(await findEvidence(store.read, "none")).toBeNull();
    const signed = (await listEvidence(store.read, null, 10)).filter(({ isSigned }) => isSigned);
    expect(signed.map(({ callId }) => callId)).toEqual(["signed"]);
  });

  it("are a hundred of a tool in a day, and as many again on the next", async () => {
    for (let n = 0; n < 102; n++) await keep(`first-${n}`);
    expect(await kept()).toHaveLength(100);
    await keep("of another tool", { toolId: "other" });
    await keep("of another day", {}, NOW_MS + DAY_MS);
    expect(await kept()).toContain("of another day");
    expect(await kept("other")).toEqual(["of another tool"]);
  });

  it("are kept if they are signed, however many are not", async () => {
    for (let n = 0; n < 101; n++) await keep(`unsigned-${n}`, { signedAnswer: undefined });
    await keep("signed");
    expect(await kept()).toHaveLength(101);
    expect(await kept()).toContain("signed");
  });

  it("are forgotten after a month, when no court and no adjudicator hears of them", async () => {
    for (let n = 0; n < 3; n++) await keep(`old-${n}`);
    await keep("new", {}, NOW_MS + 1);
    const forget = (nowMs: number) => store.alone((sql) => forgetEvidence(sql, nowMs, 2));
    expect(await forget(NOW_MS + 30 * DAY_MS)).toBe(0);
    expect([await forget(NOW_MS + 30 * DAY_MS + 1), await forget(NOW_MS + 30 * DAY_MS + 1)]).toEqual([2, 1]);
    expect(await kept()).toEqual(["new"]);
  });

  it("are listed and handed to convict by a command, whatever a tool has written into them", async () => {
    await keep("call-1", { problem: "/\u001b[2J\u202e must be number" });
    const lines: string[] = [];
    const output = { say: (line: string) => lines.push(line), progress: () => {}, environment: environmentOf(path) };
    const run = (...positionals: string[]) => command.run({ positionals, values: {}, output });
    expect((await run()).value).toMatchObject({ evidence: [{ callId: "call-1", isSigned: true }] });
    expect(lines).toEqual(["2027-01-15T08:00:00.000Z  call-1  tool  quote  signed: / [2J  must be number"]);
    expect((await run("call-1")).value).toEqual(CONVICTION);
    await keep("unsigned", { signedAnswer: undefined });
    for (const callId of ["call-2", "unsigned"]) {
      await expect(run(callId)).rejects.toThrow(`no signed answer of call ${callId} is kept; see evidence`);
    }
  });
});

const environmentOf = (database: string) => ({
  MARKETPLACE_CHAIN_ID: "8453",
  MARKETPLACE_RPC_URLS: "http://127.0.0.1:8545",
  MARKETPLACE_ROUTER: "0x0000000000000000000000000000000000000001",
  MARKETPLACE_DATABASE: database,
  MARKETPLACE_PUBLIC_URL: "http://127.0.0.1:8788",
  MARKETPLACE_SETTLEMENT_URL: "http://127.0.0.1:8787",
  MARKETPLACE_SETTLEMENT_TOKEN: "a".repeat(32),
  MARKETPLACE_SIGNING_KEYS: "keys.json",
});
