import { describe, expect, it } from "vitest";
import { SettlementError } from "../../domain/errors.ts";
import type { Backlog } from "../../ledger/ledger.ts";
import type { EngineEvent } from "../context.ts";
import { DEFAULT_POLICY } from "../policy.ts";
import { createAdmission } from "./admission.ts";

const POLICY = {
  ...DEFAULT_POLICY,
  maxInFlight: 1,
  bounds: { ...DEFAULT_POLICY.bounds, maxCharges: 10 },
  admission: { maxCharges: 100, maxSeconds: 10, maxLagMs: 5_000 },
};

// What the ledger says at each second.
function begin(backlogAt: (second: number) => Backlog) {
  const events: EngineEvent[] = [];
  let nowMs = 0;
  let looks = 0;
  const admission = createAdmission({
    clock: { nowMs: () => nowMs },
    policy: POLICY,
    report: (event) => events.push(event),
    ledger: {
      readBacklog: async (atMs) => {
        looks += 1;
        return backlogAt(atMs / 1_000);
      },
    },
  });
  const write = () => admission.write(1, async () => "written");
  return {
    admission,
    write,
    events,
    looks: () => looks,
    at: (second: number) => {
      nowMs = second * 1_000;
    },
    async refusedAt(second: number): Promise<boolean> {
      nowMs = second * 1_000;
      return write().then(
        () => false,
        (error: { code: string }) => error.code === "overloaded",
      );
    },
  };
}

describe("admission", () => {
  it("refuses in words, with a time to come back, while as many charges wait as may", async () => {
    const { write, at } = begin((second) => ({ due: second < 5 ? 100 : 99, taken: 0 }));
    await expect(write()).rejects.toMatchObject({
      code: "overloaded",
      retryable: true,
      retryAfterMs: 30_000,
      message: "settlement does not keep up: 100 charges wait to be settled; try again later",
    });
    at(5);
    await expect(write()).resolves.toBe("written");
  });

  it("counts what it has let in since it looked, so that a burst is bounded as well", async () => {
    const { admission, refusedAt } = begin(() => ({ due: 40, taken: 0 }));
    await admission.write(60, async () => undefined);
    expect(await refusedAt(0.5)).toBe(true);
    // By then all of it is in the ledger, or was refused by it.
    expect(await refusedAt(1)).toBe(false);
  });

  it("counts nothing of what became no charge, or was wrong, so that it can come again in parts", async () => {
    const { admission, refusedAt } = begin(() => ({ due: 40, taken: 0 }));
    const wrong = new SettlementError("invalid_input", "wrong");
    await expect(admission.write(60, () => Promise.reject(wrong))).rejects.toBe(wrong);
    await admission.write(
      60,
      async () => "found again",
      () => 60,
    );
    expect(await refusedAt(0.5)).toBe(false);
    // Whether this one was written nobody knows.
    const away = new SettlementError("ledger_unavailable", "away", { retryable: true });
    await expect(admission.write(60, () => Promise.reject(away))).rejects.toBe(away);
    expect(await refusedAt(0.6)).toBe(true);
  });

  it("refuses while more waits than is taken in the window, and it grows", async () => {
    const { refusedAt } = begin((second) => ({ due: 8 * second, taken: 5 * second }));
    for (let second = 0; second <= 1; second++) expect(await refusedAt(second), `${second}`).toBe(false);
    for (let second = 2; second <= 9; second++) expect(await refusedAt(second), `${second}`).toBe(true);
  });

  it("lets in while what waits gets less, however much it is", async () => {
    const { refusedAt } = begin((second) => ({ due: 90 - second, taken: 2 * second }));
    for (let second = 0; second <= 20; second++) expect(await refusedAt(second), `${second}`).toBe(false);
  });

  it("lets in what one tick takes at once", async () => {
    const { refusedAt } = begin((second) => ({ due: second, taken: second / 10 }));
    for (let second = 0; second <= 10; second++) expect(await refusedAt(second), `${second}`).toBe(false);
    expect(await refusedAt(11)).toBe(true);
  });

  it("lets in while the chain is away, up to the bound in charges", async () => {
    const { refusedAt } = begin((second) => ({ due: 5 * second, taken: 0 }));
    for (let second = 0; second < 20; second++) expect(await refusedAt(second), `${second}`).toBe(false);
    expect(await refusedAt(20)).toBe(true);
  });

  it("refuses while a write waits too long for its commit", async () => {
    const { admission, refusedAt } = begin(() => ({ due: 0, taken: 0 }));
    const { promise, resolve } = Promise.withResolvers<void>();
    expect(await refusedAt(0)).toBe(false);
    const slow = admission.write(1, () => promise);
    expect(await refusedAt(5)).toBe(false);
    expect(await refusedAt(5.001)).toBe(true);
    resolve();
    await slow;
    expect(await refusedAt(6.1)).toBe(false);
  });

  it("looks once a second, however many ask, and says once that it refuses and once that it no longer does", async () => {
    const { write, events, looks, at } = begin((second) => ({ due: second < 2 ? 100 : 0, taken: 0 }));
    for (const second of [0, 0.9, 1, 1.5]) {
      at(second);
      await Promise.allSettled(Array.from({ length: 50 }, write));
    }
    expect([looks(), events.map(({ kind }) => kind)]).toEqual([2, ["overloaded"]]);
    at(2);
    await Promise.all(Array.from({ length: 50 }, write));
    expect([looks(), events.map(({ kind }) => kind)]).toEqual([3, ["overloaded", "admitting"]]);
  });

  it("begins again when the clock is set back", async () => {
    const { refusedAt, looks } = begin(() => ({ due: 0, taken: 0 }));
    expect(await refusedAt(100)).toBe(false);
    expect(await refusedAt(10)).toBe(false);
    expect(looks()).toBe(2);
  });
});
