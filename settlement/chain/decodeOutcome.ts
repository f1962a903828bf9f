import { type Address, type Hex, isAddressEqual, type Log, parseEventLogs } from "viem";
import type { BatchOutcome, ChargeFailure } from "../domain/batch.ts";
import { microUsdc } from "../domain/money.ts";
import type { ToolId } from "../domain/toolId.ts";
import { routerAbi } from "./abi.ts";

// In the order of IContextRouter.ChargeFailure.
const chargeFailures: readonly ChargeFailure[] = ["daily_cap", "blacklisted", "allowance", "balance"];

type Lists<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer Item)[] ? Item[] : T[K] };

type Collected = Lists<Pick<BatchOutcome, "failed" | "refused" | "paid">>;

// Reads what became of every batch in a transaction. The router cannot be re-entered, so all it logs between the start
// and the end of a batch belongs to that batch, and `BatchSettled` is the last of it.
export function decodeOutcome(logs: readonly Log[], router: Address): Map<Hex, BatchOutcome> {
  const batches = new Map<Hex, BatchOutcome>();
  let collected: Collected = { failed: [], refused: [], paid: [] };
  let paidDirectly = false;
  const events = parseEventLogs({
    abi: routerAbi,
    logs: logs.filter((log) => isAddressEqual(log.address, router)),
  });
  for (const { eventName, args } of events) {
    switch (eventName) {
      case "ChargeFailed":
        collected.failed.push({
          chargedTo: args.payer,
          amount: microUsdc(args.amount),
          reason: chargeFailureOf(args.reason),
        });
        break;
      case "LineRefused":
        collected.refused.push({
          chargedTo: args.payer,
          toolId: args.toolId as ToolId,
          amount: microUsdc(args.amount),
        });
        break;
      case "Paid":
        // A payment without a batch: the router reports what its tool earned right after it.
        paidDirectly = true;
        break;
      case "ToolPaid":
        if (!paidDirectly) {
          collected.paid.push({
            toolId: args.toolId as ToolId,
            payee: args.payee,
            amount: microUsdc(args.amount),
            developerShare: microUsdc(args.developerShare),
          });
        }
        paidDirectly = false;
        break;
      case "BatchSettled":
        batches.set(args.receiptsRoot, {
          charged: microUsdc(args.charged),
          treasuryShare: microUsdc(args.treasuryShare),
          ...collected,
        });
        collected = { failed: [], refused: [], paid: [] };
        break;
    }
  }
  return batches;
}

function chargeFailureOf(index: number): ChargeFailure {
  const failure = chargeFailures[index];
  // The router cannot be upgraded, so another number means that this is not the router's ABI.
  if (failure === undefined) throw new RangeError(`${index} is no reason for a failed charge`);
  return failure;
}
