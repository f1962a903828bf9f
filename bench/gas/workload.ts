import type { Address } from "viem";
import type { BatchRow } from "../../settlement/domain/batch/batch.ts";

// The workload that all numbers refer to: every payer makes 100 calls at $0.001, spread evenly over 5 of 20 tools.
export const TOOLS = 20;
export const PAYERS = 100;
export const CALLS_PER_PAYER = 100;
export const TOOLS_PER_PAYER = 5;
export const CALL_PRICE = 1_000n;

// What one payer owes for its calls, and what of it goes to each of its tools.
export const PAYER_TOTAL = BigInt(CALLS_PER_PAYER) * CALL_PRICE;
const LINE_AMOUNT = PAYER_TOTAL / BigInt(TOOLS_PER_PAYER);

// The netted rows of the payers. Neighbours use different tools, so that every tool has as many payers as the others.
export function workloadRows(payers: readonly string[]): BatchRow[] {
  return payers.map((payer, position) => ({
    payer: payer as Address,
    modelCost: 0n,
    lines: Array.from({ length: TOOLS_PER_PAYER }, (_, line) => ({
      toolIndex: (position + (line * TOOLS) / TOOLS_PER_PAYER) % TOOLS,
      amount: LINE_AMOUNT,
    })),
  }));
}

// The rows of `calls` calls on `tools` tools: 100 calls for every payer, or fewer if there is only one, on 5 tools each if
// there are so many.
export function growthRows(payers: readonly { address: string }[], calls: number, tools: number): BatchRow[] {
  const perPayer = calls / payers.length;
  const lineCount = Math.min(TOOLS_PER_PAYER, tools, perPayer);
  return payers.map(({ address }, position) => ({
    payer: address as Address,
    modelCost: 0n,
    lines: Array.from({ length: lineCount }, (_, line) => ({
      toolIndex: (position + Math.floor((line * tools) / lineCount)) % tools,
      amount: (BigInt(perPayer) * CALL_PRICE) / BigInt(lineCount),
    })),
  }));
}
