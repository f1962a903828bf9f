import { expect, it } from "vitest";
import { createUnsettled } from "./createUnsettled.ts";

type Rights = { limit: bigint; bonded: boolean };

// A service whose operators have these rights, at a time that a test sets.
function open(rights: readonly Rights[]) {
  const state = { availability: { kind: "available" } as object, rights, nowMs: 1_000, looks: 0 };
  const chain = {
    availability: async () => {
      state.looks += 1;
      return state.availability;
    },
    operatorLimit: async (operator: number) => ({ left: 0n, ...state.rights[operator] }),
  };
  const ledger = { listOperators: async () => state.rights.map((_, operator) => ({ operator })) };
  const clock = { nowMs: () => state.nowMs };
  return { state, unsettled: createUnsettled({ chain, ledger, clock } as never) };
}

const GOOD = { limit: 10n, bonded: true };
const SUSPENDED = { limit: 0n, bonded: true };
const WITHOUT_BOND = { limit: 10n, bonded: false };

it("something can be settled while one operator may", async () => {
  expect(await open([SUSPENDED, WITHOUT_BOND, GOOD]).unsettled()).toBeNull();
  // Before the first tick nobody knows of any.
  expect(await open([]).unsettled()).toBeNull();
});

it("nothing can be settled while the router is paused, or no operator may", async () => {
  const { state, unsettled } = open([GOOD]);
  state.availability = { kind: "unavailable", reason: "the router is paused" };
  expect(await unsettled()).toBe("the router is paused");
  expect(await open([SUSPENDED, WITHOUT_BOND]).unsettled()).toBe("no operator may settle");
});

it("the chain is asked once in a while, and again when the clock was set back", async () => {
  const { state, unsettled } = open([GOOD]);
  await unsettled();
  state.rights = [SUSPENDED];
  state.nowMs += 4_999;
  expect(await unsettled()).toBeNull();
  state.nowMs += 1;
  expect(await unsettled()).toBe("no operator may settle");
  state.nowMs -= 1;
  await unsettled();
  expect(state.looks).toBe(3);
});
