import { type Address, encodeFunctionData, type Hex } from "viem";
import { routerAbi } from "../../../settlement/chain/router/abi.ts";
import { encodeRows } from "../../../settlement/chain/router/encodeRows.ts";
import { decodeSettle, encodeSettle, following, NO_BATCH } from "../../../settlement/chain/router/settleCall.ts";
import type { SimulatedChain } from "../chain/simulatedChain.ts";
import type { Rng } from "../rng.ts";
import { hexOf, ROUTER, type Scenario, USDC } from "../scenario.ts";
import type { Faults } from "./faults.ts";

// What a thief is counted by.
export const THEFTS = [
  "a thief settles an invented batch",
  "a thief settles a pending batch with another key",
  "a thief settles a pending root with other rows",
] as const;

const GAS = 500_000n;

// Somebody else has the operators' keys, and settles with them: what nobody has ordered, what is on its way already, and other
// amounts under a root that is on its way.
export function steal(chain: SimulatedChain, rng: Rng, faults: Faults, { payers, operators, maxRows }: Scenario): void {
  const [invented, copied, forged] = THEFTS;
  const operator = rng.pick(operators);
  const headOf = (account: Address) => chain.head().state.protocol.heads.get(account) ?? NO_BATCH;
  const inject = (from: Address, calldata: Hex, gasLimit = GAS) =>
    chain.inject({ from, to: ROUTER, calldata, gasLimit, fleeting: false });
  const settle = (batchId: Hex, payer: Address) =>
    encodeFunctionData({
      abi: routerAbi,
      functionName: "settle",
      args: [headOf(operator), batchId, [], encodeRows([{ payer, modelCost: USDC, lines: [] }])],
    });

  if (faults.strike(invented, 0.03)) inject(operator, settle(hexOf(rng.between(1, 2 ** 31)), rng.pick(payers)));
  const pending = chain
    .pooled()
    .filter(({ to, from, calldata }) => to === ROUTER && operators.includes(from) && isSettle(calldata));
  if (pending.length === 0) return;
  const { calldata } = rng.pick(pending);
  if (faults.strike(copied, 0.08)) inject(operator, following(calldata, headOf(operator)), GAS * BigInt(maxRows));
  if (!faults.strike(forged, 0.12)) return;
  const batch = decodeSettle(calldata);
  const [first] = batch.rows;
  if (first === undefined) return;
  // The same payer for another sum, or somebody who is not in the batch at all.
  const rows = rng.happens(0.6)
    ? batch.rows.map((row) =>
        row === first ? { ...row, modelCost: row.modelCost + BigInt(rng.between(1, 50_000)) } : row,
      )
    : [{ payer: rng.pick(payers), modelCost: BigInt(rng.between(1, 2_000_000)), lines: [] }];
  inject(operator, encodeSettle({ ...batch, previous: headOf(operator), rows }), GAS * BigInt(maxRows));
}

const SETTLE = encodeFunctionData({
  abi: routerAbi,
  functionName: "settle",
  args: [NO_BATCH, NO_BATCH, [], "0x"],
}).slice(0, 10);

const isSettle = (calldata: Hex) => calldata.startsWith(SETTLE);
