import assert from "node:assert/strict";
import type { Address, Hex } from "viem";
import type { LocalWorld } from "../../../scripts/world/startWorld.ts";
import { formatUsd, microUsdc, parseUsd } from "../../../settlement/domain/money.ts";
import { splitRevenue } from "../../../settlement/domain/split.ts";
import { uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import type { Acknowledged, Ask } from "./platform.ts";

// Where the charges must be, if not all with their payers' money: how many charges in which state.
export type Expected = Partial<Record<"pending" | "absorbed" | "refused", number>>;

export type Balances = {
  charges: number;
  final: number;
  pending: number;
  absorbed: number;
  refused: number;
  // How many transactions settled something.
  transactions: number;
  // The most failed attempts of any charge.
  attempts: number;
  acknowledgedUsd: string;
  // What was acknowledged and is nowhere, or is somewhere twice. It is nothing, or there would be an error instead.
  lost: string;
};

export type Sources = {
  world: LocalWorld;
  ask: Ask;
  acknowledged: Acknowledged;
  fromBlock: bigint;
  creditsBefore: ReadonlyMap<string, bigint>;
  creditsNow: ReadonlyMap<string, bigint>;
};

type ChargeView = {
  chargeId: Hex;
  toolId: string | null;
  payer: Address;
  chargedTo: Address;
  amountUsd: string;
  attempts: number;
  state: string;
  batchId: Hex | null;
};

const PENDING = new Set(["accrued", "owed", "batched", "submitted", "included"]);
const MODEL = "model";

// Three balances are laid side by side: what the client was told, what the ledger says, and what the chain's own logs say.
// They agree to the unit, or this throws.
export async function keepBalances(sources: Sources, expected: Expected = {}): Promise<Balances> {
  const charges = await chargesOf(sources);
  const amountOf = (some: readonly ChargeView[]) => some.reduce((sum, { amountUsd }) => sum + parseUsd(amountUsd), 0n);
  const inState = (...states: string[]) => charges.filter(({ state }) => states.includes(state));
  const pending = charges.filter(({ state }) => PENDING.has(state));
  const [final, absorbed, refused] = [inState("final"), inState("absorbed"), inState("refused")];
  assert.equal(final.length + absorbed.length + refused.length + pending.length, charges.length, "a charge has an end");
  assert.deepEqual(
    { pending: pending.length, absorbed: absorbed.length, refused: refused.length },
    { pending: 0, absorbed: 0, refused: 0, ...expected },
    "charges are where they should be",
  );

  const { totals } = (await sources.ask("GET", "/v1/status")).body as unknown as { totals: Record<string, string> };
  assert.deepEqual(
    totals,
    {
      accruedUsd: usd(amountOf(charges)),
      pendingUsd: usd(amountOf(pending)),
      settledUsd: usd(amountOf(final)),
      absorbedUsd: usd(amountOf(absorbed)),
      refusedUsd: usd(amountOf(refused)),
      voidedUsd: "0.00",
    },
    "the ledger holds what was acknowledged and nothing else",
  );

  const chainSide = await readChain(sources);
  const insurance = sources.world.parties.insurance.address.toLowerCase();
  const charged = new Map<string, bigint>();
  for (const charge of [...final, ...absorbed]) {
    const account = charge.state === "final" ? charge.payer : insurance;
    charged.set(account, (charged.get(account) ?? 0n) + parseUsd(charge.amountUsd));
  }
  assert.deepEqual(
    sorted(chainSide.charged),
    sorted(charged),
    "the token moved what the ledger says, from whom it says",
  );
  assert.deepEqual(sorted(chainSide.earned), sorted(earnedOf(sources, [...final, ...absorbed])), "everybody earned it");
  const listed = (await sources.ask("GET", "/v1/batches?limit=1000")).body as unknown as {
    batches: { batchId: Hex; state: string }[];
  };
  const finalIds = listed.batches.filter(({ state }) => state === "final").map(({ batchId }) => batchId);
  assert.deepEqual(chainSide.batchIds, finalIds.sort(), "every batch on chain is one of the ledger, and settled once");

  return {
    charges: charges.length,
    final: final.length,
    pending: pending.length,
    absorbed: absorbed.length,
    refused: refused.length,
    transactions: chainSide.batchIds.length,
    attempts: Math.max(0, ...charges.map(({ attempts }) => attempts)),
    acknowledgedUsd: usd(amountOf(charges)),
    lost: "nothing",
  };
}

// Every acknowledged turn and call, asked for by its name: each charge is there once and with its amount.
async function chargesOf({ ask, acknowledged }: Sources): Promise<ChargeView[]> {
  const ofTurns = await Promise.all(
    [...acknowledged.turns.values()].map(async ({ turnId, modelCost, tools }) => {
      const { body } = await ask("GET", `/v1/turns/${turnId}`);
      const { charges } = body as unknown as { charges: ChargeView[] };
      const owed = [
        [MODEL, usd(modelCost)],
        ...tools.map(({ toolId, amount }) => [uuidFromToolId(toolId), usd(amount)]),
      ];
      const found = charges.map(({ toolId, amountUsd }) => [toolId ?? MODEL, amountUsd]);
      assert.deepEqual(found.sort(), owed.sort(), `turn ${turnId} is in the ledger as it was acknowledged`);
      return charges;
    }),
  );
  const ofCalls = await Promise.all(
    [...acknowledged.calls].map(async ([callId, { amount }]) => {
      const { call } = (await ask("GET", `/v1/calls/${callId}`)).body as unknown as { call: { chargeId: string } };
      const { charge } = (await ask("GET", `/v1/charges/${call.chargeId}`)).body as unknown as { charge: ChargeView };
      assert.equal(charge.amountUsd, usd(amount), `call ${callId} is in the ledger as it was acknowledged`);
      return [charge];
    }),
  );
  const charges = [...ofTurns, ...ofCalls].flat();
  assert.equal(new Set(charges.map(({ chargeId }) => chargeId)).size, charges.length, "no charge is there twice");
  return charges;
}

// What the token and the router logged themselves.
async function readChain({ world, fromBlock, creditsBefore, creditsNow }: Sources) {
  const { router, usdc } = world;
  const address = await router.getAddress();
  const [transfers, payouts, settled] = await Promise.all([
    usdc.queryFilter(usdc.filters.Transfer(undefined, address), Number(fromBlock)),
    usdc.queryFilter(usdc.filters.Transfer(address), Number(fromBlock)),
    router.queryFilter(router.filters.BatchSettled(), Number(fromBlock)),
  ]);
  const settlements = new Set(settled.map(({ transactionHash }) => transactionHash));
  const charged = new Map<string, bigint>();
  for (const { args, transactionHash } of transfers) {
    if (!settlements.has(transactionHash)) continue;
    const from = args.from.toLowerCase();
    charged.set(from, (charged.get(from) ?? 0n) + args.value);
  }
  const earned = new Map(
    [...creditsNow].map(([account, credit]) => [account, credit - (creditsBefore.get(account) ?? 0n)]),
  );
  // What was credited may have been paid out since.
  for (const { args } of payouts) {
    const to = args.to.toLowerCase();
    if (earned.has(to)) earned.set(to, (earned.get(to) ?? 0n) + args.value);
  }
  return { charged, earned, batchIds: settled.map(({ args }) => args.batchId).sort() };
}

// The split is made per batch and tool; what is left of it, and the model's cost, is the treasury's.
function earnedOf({ world, creditsNow }: Sources, charges: readonly ChargeView[]): Map<string, bigint> {
  const earned = new Map([...creditsNow.keys()].map((account) => [account, 0n]));
  const treasury = world.parties.treasury.address.toLowerCase();
  const add = (account: string, amount: bigint) => earned.set(account, (earned.get(account) ?? 0n) + amount);
  const groups = Map.groupBy(charges, ({ batchId, toolId }) => `${batchId} ${toolId ?? MODEL}`);
  for (const group of groups.values()) {
    const amount = microUsdc(group.reduce((sum, { amountUsd }) => sum + parseUsd(amountUsd), 0n));
    const { toolId = null } = group[0] ?? {};
    const developer = world.tools.find((tool) => uuidFromToolId(tool.toolId) === toolId)?.developer.address;
    if (developer === undefined) {
      add(treasury, amount);
      continue;
    }
    const { developerShare, protocolShare } = splitRevenue(amount);
    add(developer.toLowerCase(), developerShare);
    add(treasury, protocolShare);
  }
  return earned;
}

const usd = (amount: bigint) => formatUsd(microUsdc(amount));
const sorted = (amounts: ReadonlyMap<string, bigint>) => [...amounts].filter(([, amount]) => amount > 0n).sort();
