import { formatUsd, type MicroUsdc, microUsdc } from "../../../settlement/domain/money.ts";
import { CommandError } from "../CommandError.ts";
import type { Deployment } from "../openDeployment.ts";
import type { Call } from "./simulate.ts";

// The approval that must come before `spender` can take `amount` from `owner`; none if there is one already. It is
// for exactly this amount, so that nothing is left over for anybody.
export async function approvalCalls(
  { usdc, record }: Deployment,
  owner: string,
  spender: string,
  amount: MicroUsdc,
): Promise<Call[]> {
  const [balance, allowance] = await Promise.all([usdc.balanceOf(owner), usdc.allowance(owner, spender)]);
  if (balance < amount) {
    throw new CommandError(
      `${owner} has ${formatUsd(microUsdc(balance))} USDC and ${formatUsd(amount)} are needed: ` +
        `send it ${formatUsd(microUsdc(amount - balance))} more`,
    );
  }
  if (allowance >= amount) return [];
  return [
    {
      title: `approve ${formatUsd(amount)} USDC`,
      to: record.usdc,
      data: usdc.interface.encodeFunctionData("approve", [spender, amount]),
    },
  ];
}
