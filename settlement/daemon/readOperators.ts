import { type Address, formatEther } from "viem";
import type { Chain } from "../chain/chain.ts";
import type { ChainInspection } from "../chain/inspectChain.ts";
import type { Clock } from "../clock.ts";
import { formatUsd, microUsdc } from "../domain/money.ts";
import type { Submission } from "../domain/submission.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { timeOf } from "./views.ts";

export type OperatorRow = Awaited<ReturnType<typeof readOperators>>[number];

export type OperatorsSource = {
  ledger: Ledger;
  chain: Pick<Chain, "balance" | "nonce">;
  inspection: Pick<ChainInspection, "operatorLimit">;
  clock: Clock;
  // The keys of this process, which may never have held a lease.
  own: readonly Address[];
};

// Every operator key that this ledger knows, with what the chain says of it and what it has on its way.
export async function readOperators({ ledger, chain, inspection, clock, own }: OperatorsSource) {
  const known = await ledger.operators();
  const leases = new Map(known.map((lease) => [lease.operator, lease]));
  const addresses = new Set([...leases.keys(), ...own.map((operator) => operator.toLowerCase() as Address)]);
  return Promise.all(
    [...addresses].map(async (operator) => {
      const [balanceWei, nonce, { limit, left }, open] = await Promise.all([
        chain.balance(operator),
        chain.nonce(operator, "latest"),
        inspection.operatorLimit(operator),
        ledger.openSubmissions(operator),
      ]);
      const lease = leases.get(operator);
      const isHeld = lease !== undefined && lease.holder !== null && lease.untilMs > clock.nowMs();
      return {
        operator,
        balanceEth: formatEther(balanceWei),
        limitUsd: formatUsd(microUsdc(limit)),
        leftUsd: formatUsd(microUsdc(left)),
        nonce,
        nextNonce: Math.max(lease?.nextNonce ?? 0, nonce),
        lease: isHeld ? { holder: lease.holder, until: timeOf(lease.untilMs) } : null,
        openSubmissions: open.map(submissionView),
      };
    }),
  );
}

function submissionView({ id, kind, nonce, state, createdAtMs, broadcasts }: Submission) {
  const txHash = "txHash" in state ? state.txHash : (broadcasts.at(-1)?.txHash ?? null);
  return { id, kind, nonce, state: state.kind, createdAt: timeOf(createdAtMs), txHash };
}
