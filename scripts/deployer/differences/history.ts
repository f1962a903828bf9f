import type { DeploymentRecord } from "../../../settlement/deployment.ts";
import type { Session } from "../../command/session.ts";
import { CONTRACT_KEYS, CONTRACTS } from "../../protocol/description.ts";
import type { Difference } from "./difference.ts";

// Roles and operators are found in the events since the recorded block. A record that names a later block than the
// contract's first would hide what happened before it, so there must be no code one block earlier.
export async function checkHistory({ provider }: Session, { contracts }: DeploymentRecord): Promise<Difference[]> {
  const differences = await Promise.all(
    CONTRACT_KEYS.map(async (key) => {
      const { address, block } = contracts[key];
      if (block === 0) return [];
      const before = block - 1;
      const found = await provider.getCode(address, before).then(
        (code) => (code === "0x" ? undefined : "a contract that was there before its recorded block"),
        () => "no answer: this node does not remember that block, so use one that does (an archive node)",
      );
      return found ? [{ subject: `${CONTRACTS[key].title} at block ${before}`, expected: "no code", found }] : [];
    }),
  );
  return differences.flat();
}
