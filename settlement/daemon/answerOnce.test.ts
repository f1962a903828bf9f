import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SettlementError } from "../domain/errors.ts";
import { createLedger } from "../ledger/createLedger.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { openSqlite } from "../ledger/sqlite.ts";
import { answerOnce } from "./answerOnce.ts";
import { ApiError } from "./errors.ts";

const clock = { nowMs: () => 1_800_000_000_000 };
const request = { caller: "platform", key: "k", method: "POST", path: "/v1/turns", body: { turnId: "t" } };

let folder: string;
let ledger: Ledger;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "answers-"));
  ledger = await createLedger(openSqlite({ path: join(folder, "ledger.db") }));
});

afterEach(async () => {
  await ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

it("a failure of this side is not kept under its key, so that a retry can succeed", async () => {
  const failing = async () => {
    throw new SettlementError("ledger_unavailable", "the disk is full", { retryable: true });
  };
  await expect(answerOnce(ledger, clock, request, failing)).rejects.toThrow("the disk is full");
  const retried = await answerOnce(ledger, clock, request, async () => ({ body: { done: true } }));
  expect(retried).toEqual({ status: 200, body: '{"done":true}', replayed: false });
});

it("a refusal of the caller's request is kept under its key", async () => {
  const refusing = async () => {
    throw new ApiError("session_not_found", "There is no such session.");
  };
  const first = await answerOnce(ledger, clock, request, refusing);
  expect(first).toMatchObject({ status: 404, replayed: false });
  const again = await answerOnce(ledger, clock, request, async () => ({ body: { done: true } }));
  expect(again).toEqual({ ...first, replayed: true });
});
