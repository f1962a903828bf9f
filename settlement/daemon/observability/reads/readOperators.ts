import { type Address, formatEther } from "viem";
import type { Chain } from "../../../chain/chain.ts";
import type { ChainInspection } from "../../../chain/inspectChain.ts";
import type { Clock } from "../../../clock.ts";
import { formatUsd, microUsdc } from "../../../domain/money.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { type OperatorRow, submissionView } from "../../../views/service/operator.ts";
import { timeOf } from "../../../views/shapes.ts";

// On Base hundreds are mined and wait to be final.
const MAX_OPEN_SHOWN = 100;

export type OperatorsSource = {
  ledger: Ledger;
  chain: Pick<Chain, "balance" | "nonce">;
  inspection: Pick<ChainInspection, "operatorLimit">;
  clock: Clock;
  // The keys of this process, which may never have held a lease.
  own: readonly Address[];
};

// Every operator key that this ledger knows, with what the chain says of it and what it has on its way.
export async function readOperators({
  ledger,
  chain,
  inspection,
  clock,
  own,
}: OperatorsSource): Promise<OperatorRow[]> {
  const known = await ledger.listOperators();
  const leases = new Map(known.map((lease) => [lease.operator, lease]));
  const addresses = new Set([...leases.keys(), ...own.map((operator) => operator.toLowerCase() as Address)]);
  return Promise.all(
    [...addresses].map(async (operator) => {
      const [balanceWei, nonce, { limit, left }, open] = await Promise.all([
        chain.balance(operator),
        chain.nonce(operator, "latest"),
        inspection.operatorLimit(operator),
        ledger.listOpenSubmissions(operator, MAX_OPEN_SHOWN),
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
