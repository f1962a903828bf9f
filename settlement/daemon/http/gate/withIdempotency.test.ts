import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SettlementError } from "../../../domain/errors.ts";
import { ledgers, type Store } from "../../../ledger/testing/backends.ts";
import { ApiError } from "../errors.ts";
import { createWithIdempotency, newIdOf, type OnceResult, type WithIdempotency } from "./withIdempotency.ts";

const CLAIM_MS = 30_000;
const done = async (): Promise<OnceResult> => ({ status: 200, body: { done: true } });
const DONE = { status: 200, body: '{"done":true}' };

describe.each(ledgers)("one Idempotency-Key, on $name", ({ create }) => {
  let store: Store;
  // Two daemons on one database.
  let daemons: [WithIdempotency, WithIdempotency];
  let nowMs = 1_800_000_000_000;
  let keys = 0;
  const clock = { nowMs: () => nowMs };

  beforeAll(async () => {
    store = await create();
    daemons = [
      createWithIdempotency({ ledger: await store.open(), clock }),
      createWithIdempotency({ ledger: await store.open(), clock }),
    ];
  });
  afterAll(() => store.remove());

  const requestOf = () => ({
    caller: "platform",
    key: `k${keys++}`,
    method: "POST",
    path: "/v1/turns",
    body: { a: 1 },
  });
  const ask = (request: ReturnType<typeof requestOf>, work: () => Promise<OnceResult>, daemon: 0 | 1 = 0) =>
    daemons[daemon](request, work);

  it("a failure of this side is not kept under its key, so that a retry can succeed", async () => {
    const request = requestOf();
    const failing = async () => {
      throw new SettlementError("ledger_unavailable", "the disk is full", { retryable: true });
    };
    await expect(ask(request, failing)).rejects.toThrow("the disk is full");
    expect(await ask(request, done)).toEqual({ ...DONE, replayed: false });
  });

  it.each(["insufficient_allowance", "session_not_found", "conflict", "rate_limited"] as const)(
    "a refusal as %s is not kept: the same key is judged again, and its result is",
    async (code) => {
      const request = requestOf();
      const refusing = async () => {
        throw new ApiError(code, "not as things stand");
      };
      await expect(ask(request, refusing)).rejects.toThrow("not as things stand");
      expect(await ask(request, done)).toEqual({ ...DONE, replayed: false });
      expect(await ask(request, refusing)).toEqual({ ...DONE, replayed: true });
    },
  );

  it("a result of which a part was refused is not kept either, and what comes of it later is", async () => {
    const request = requestOf();
    const partly = async (): Promise<OnceResult> => ({ status: 200, body: { refused: 1 }, mayChange: true });
    expect(await ask(request, partly)).toEqual({ status: 200, body: '{"refused":1}', replayed: false });
    expect(await ask(request, done, 1)).toEqual({ ...DONE, replayed: false });
    expect(await ask(request, partly)).toEqual({ ...DONE, replayed: true });
  });

  it.each([0, 1] as const)("a second arrival waits for the answer of the first, on daemon %i", async (daemon) => {
    const request = requestOf();
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const first = ask(request, async () => {
      started.resolve();
      await finish.promise;
      return done();
    });
    await started.promise;
    let ran = 0;
    const second = ask(
      request,
      async () => {
        ran += 1;
        return done();
      },
      daemon,
    );
    await expect(ask({ ...request, body: { a: 2 } }, done, daemon)).rejects.toThrow("used for another request");
    finish.resolve();
    expect(await first).toEqual({ ...DONE, replayed: false });
    expect(await second).toEqual({ ...DONE, replayed: true });
    expect(ran).toBe(0);
  });

  it("of many arrivals at once one runs, and all get its answer", async () => {
    const request = requestOf();
    let ran = 0;
    const work = async () => {
      ran += 1;
      return done();
    };
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(request, work, i % 2 === 0 ? 0 : 1)));
    expect(ran).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body))).toEqual(new Set([DONE.body]));
  });

  it("those who ask at the same time share a refusal, and are not judged one after the other", async () => {
    const request = requestOf();
    const decide = Promise.withResolvers<void>();
    let ran = 0;
    const refusing = async () => {
      ran += 1;
      await decide.promise;
      throw new ApiError("insufficient_allowance", "not as things stand");
    };
    const answers = Promise.allSettled(Array.from({ length: 20 }, () => ask(request, refusing)));
    decide.resolve();
    for (const answer of await answers) {
      expect(answer).toMatchObject({ status: "rejected", reason: { code: "insufficient_allowance" } });
    }
    expect(ran).toBe(1);
    expect(await ask(request, done)).toEqual({ ...DONE, replayed: false });
  });

  it("nobody waits for a request of this daemon that hangs, once its claim is old", async () => {
    const request = requestOf();
    const started = Promise.withResolvers<void>();
    const wake = Promise.withResolvers<void>();
    const hanging = ask(request, async () => {
      started.resolve();
      await wake.promise;
      return done();
    });
    await started.promise;
    nowMs += CLAIM_MS;
    expect(await ask(request, done)).toEqual({ ...DONE, replayed: false });
    wake.resolve();
    await hanging;
  });

  it("the claim of a process that died is taken over once it is old, and what that one still does changes nothing", async () => {
    const request = requestOf();
    const started = Promise.withResolvers<void>();
    const wake = Promise.withResolvers<void>();
    const frozen = ask(request, async () => {
      started.resolve();
      await wake.promise;
      throw new ApiError("payment_failed", "too late");
    });
    await started.promise;
    nowMs += CLAIM_MS;
    expect(await ask(request, done, 1)).toEqual({ ...DONE, replayed: false });
    wake.resolve();
    await expect(frozen).rejects.toThrow("too late");
    expect(await ask(request, done)).toEqual({ ...DONE, replayed: true });
  });
});

it("what a request under a key creates has the same valid UUID each time", () => {
  const RFC_9562 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  for (let n = 0; n < 100; n++) expect(newIdOf("platform", `k${n}`)()).toMatch(RFC_9562);
  expect(newIdOf("platform", "k")()).toBe(newIdOf("platform", "k")());
  expect(newIdOf("platform", "k")()).not.toBe(newIdOf("console", "k")());
});
