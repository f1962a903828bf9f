import type { Address, Hex } from "viem";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ToolId } from "../domain/toolId.ts";
import type { Lease, Ledger } from "./ledger.ts";
import { ledgers, type Store } from "./testing/backends.ts";
import {
  ALICE,
  accountOf,
  HASHES,
  hashOf,
  leaseOf,
  OPERATOR,
  POLICY,
  RICH,
  toolOf,
  turnOf,
  usdc,
} from "./testing/fixtures.ts";

// PostgreSQL keeps no zero character. Half of a surrogate pair would be kept as U+FFFD, by both.
const unstorable = [
  ["a zero character", "a\0b"],
  ["half of a surrogate pair", "a\ud800"],
] as const;

const PAGE = { fromMs: 0, toMs: 1_000, after: null, limit: 10 };
const call = { callId: "c", sessionId: "s", toolId: toolOf(1), method: "m", amount: usdc(1) };
const session = { id: "s", payer: ALICE, maxSpend: usdc(100), expiresAtMs: 1_000 };
const inclusion = { txHash: hashOf("t"), blockNumber: 1n, blockHash: hashOf("b"), gasUsed: 1n };

const reads: [name: string, read: (ledger: Ledger, text: string) => Promise<unknown>][] = [
  ["findSession", (ledger, text) => ledger.findSession(text)],
  ["findHold", (ledger, text) => ledger.findHold(text)],
  ["listSessions", (ledger, text) => ledger.listSessions(text as Address, 10, 0)],
  ["findSubmission", (ledger, text) => ledger.findSubmission(text as Hex)],
  ["listUnmined", (ledger, text) => ledger.listUnmined(text as Address)],
  ["listOpenNonces", (ledger, text) => ledger.listOpenNonces(text as Address)],
  ["listMinedAbove", (ledger, text) => ledger.listMinedAbove(text as Address, 0n)],
  ["listMinedUpTo", (ledger, text) => ledger.listMinedUpTo(text as Address, 9n)],
  ["listOpenSubmissions", (ledger, text) => ledger.listOpenSubmissions(text as Address, 10)],
  ["findCharge", (ledger, text) => ledger.findCharge(text as Hex)],
  ["listChargesOf a turn", (ledger, text) => ledger.listChargesOf({ turnId: text })],
  ["listChargesOf a call", (ledger, text) => ledger.listChargesOf({ callId: text })],
  ["listChargesOfPayer", (ledger, text) => ledger.listChargesOfPayer(text as Address, PAGE)],
  ["listChargesOfPayer after a place", (ledger, id) => ledger.listChargesOfPayer(ALICE, after(id))],
  ["listNewestCharges", (ledger, text) => ledger.listNewestCharges(text as Address, null, 10)],
  ["listNewestCharges before a place", (ledger, id) => ledger.listNewestCharges(null, { atMs: 1_000, id }, 10)],
  ["listFailures", (ledger, text) => ledger.listFailures(text as Hex)],
  ["findBatch", (ledger, text) => ledger.findBatch(text as Hex)],
  ["listReceipts", (ledger, text) => ledger.listReceipts(text as Hex)],
  ["listChargesOfRow", (ledger, text) => ledger.listChargesOfRow(text as Hex, text as Address)],
  ["listOpenContests", (ledger, text) => ledger.listOpenContests(text as Address, 10)],
  ["listAccounts", (ledger, text) => ledger.listAccounts(text as Hex)],
  ["listEarnings", (ledger, text) => ledger.listEarnings(text as Address, PAGE)],
  ["listEarnings after a place", (ledger, id) => ledger.listEarnings(ALICE, after(id))],
  ["findToolName", (ledger, text) => ledger.findToolName(text as ToolId)],
  ["findToolEarnings", (ledger, text) => ledger.findToolEarnings(text as ToolId)],
];

const writes: [name: string, write: (ledger: Ledger, text: string, lease: Lease) => Promise<unknown>][] = [
  ["recordTurn", (ledger, text) => ledger.recordTurn(turnOf(text), 0)],
  ["openSession", (ledger, text) => ledger.openSession({ ...session, id: text }, 0)],
  ["hold of a call", (ledger, text) => ledger.hold({ ...call, callId: text }, RICH, 0)],
  ["hold in a session", (ledger, text) => ledger.hold({ ...call, sessionId: text }, RICH, 0)],
  ["hold for a method", (ledger, text) => ledger.hold({ ...call, method: text }, RICH, 0)],
  ["capture", (ledger, text) => ledger.capture({ callId: text, hashes: HASHES }, POLICY, 0)],
  ["void", (ledger, text) => ledger.void(text)],
  ["closeSession", (ledger, text) => ledger.closeSession(text, 0)],
  [
    "claimKey of a caller",
    (ledger, text) => ledger.claimKey({ caller: text, key: "k", digest: hashOf("d") }, 0, 1_000),
  ],
  ["claimKey", (ledger, text) => ledger.claimKey({ caller: "c", key: text, digest: hashOf("d") }, 0, 1_000)],
  ["saveAnswer to a caller", (ledger, text) => ledger.saveAnswer(text, "k", { status: 200, body: "" })],
  ["saveAnswer", (ledger, text) => ledger.saveAnswer("c", text, { status: 200, body: "" })],
  ["saveAnswer with a body", (ledger, text) => ledger.saveAnswer("c", "k", { status: 200, body: text })],
  ["releaseKey", (ledger, text) => ledger.releaseKey("c", text, 0)],
  ["nameTool", (ledger, text) => ledger.nameTool(toolOf(1), text, 0)],
  ["acquireLease", (ledger, text) => ledger.acquireLease(OPERATOR, text, 1_000)],
  ["releaseLease", (ledger, text, lease) => ledger.releaseLease({ ...lease, holder: text })],
  ["assignNonce", (ledger, text, lease) => ledger.assignNonce(lease, text as Hex, 0, 1n)],
  ["recordLoss", (ledger, text, lease) => ledger.recordLoss(lease, text as Hex)],
  ["recordInclusion", (ledger, id, lease) => ledger.recordInclusion(lease, id as Hex, inclusion, "reverted", null)],
  ["closeContest", (ledger, text, lease) => ledger.closeContest(lease, text as Hex, ALICE, "lapsed")],
  ["dropAnswer", (ledger, text, lease) => ledger.dropAnswer(lease, text as Hex)],
  ["abandon", (ledger, text, lease) => ledger.abandon(lease, text as Hex, 0)],
];

const after = (id: string) => ({ ...PAGE, after: { atMs: 0, id } });

describe.each(ledgers)("texts that cannot be kept, on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
    // What half of a surrogate pair would turn into.
    await ledger.openSession({ ...session, id: "a\ufffd" }, 0);
    await ledger.hold({ ...call, sessionId: "a\ufffd", callId: "a\ufffd" }, RICH, 0);
    await ledger.recordTurn(turnOf("a\ufffd"), 0);
  });
  afterEach(() => store.remove());

  it.each(unstorable)("%s is found nowhere", async (_, text) => {
    for (const [name, read] of reads) {
      const found = await read(ledger, text);
      expect(Array.isArray(found) ? found : (found ?? []), name).toEqual([]);
    }
  });

  it.each(unstorable)("%s is refused by whoever would write it, in words, and nobody else is", async (_, text) => {
    const lease = await leaseOf(ledger);
    for (const [name, write] of writes) {
      const [refused, beside] = await Promise.allSettled([
        write(ledger, text, lease),
        // Shares the commit.
        ledger.recordTurn(turnOf(name, { payer: accountOf(7) }), 0),
      ]);
      const reason = refused.status === "rejected" ? refused.reason : "was not refused";
      expect(reason, name).toMatchObject({ code: "invalid_input", message: expect.stringMatching(/^[^A-Z].*[^.]$/) });
      expect(beside, name).toMatchObject({ value: { kind: "recorded" } });
    }
  });

  it("a halt is kept however its reason is written", async () => {
    await ledger.halt("the node says \0\ud800", 5, 0);
    expect(await ledger.readHalt()).toEqual({ reason: "the node says \ufffd\ufffd", sinceMs: 5 });
  });

  it("any other text comes back as it was, and the same again is the same", async () => {
    const method = "日本語 🧾 \u0001 e\u0301";
    expect(await ledger.hold({ ...call, sessionId: "a\ufffd", method }, RICH, 0)).toMatchObject({ kind: "held" });
    expect(await ledger.hold({ ...call, sessionId: "a\ufffd", method }, RICH, 0)).toMatchObject({ kind: "duplicate" });
    expect(await ledger.findHold("c")).toMatchObject({ method });
  });
});
