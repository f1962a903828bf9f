import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { parseAddress } from "../command/arguments.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";

// `claim`: collects earnings, which wait in the router, refunds and bounties of slashes, which wait in the registry, and what
// the receipt court has credited, which waits beside the bonds.
export default command<CommonArguments & { to: string | undefined }>(async (args, session) => {
  const { router, staking, bonds, addresses } = await openDeployment(session);
  const account = (await session.signer()).address;
  const to = args.to === undefined ? account : parseAddress("--to", args.to);
  const sources = [
    { name: "earnings", to: addresses.router, amount: await router.creditOf(account) },
    { name: "refunds and bounties", to: addresses.staking, amount: await staking.creditOf(account) },
    { name: "charges given back", to: addresses.bonds, amount: await bonds.creditOf(account) },
  ].filter(({ amount }) => amount > 0n);
  if (sources.length === 0) {
    throw new CommandError(`${account} has nothing to claim: with another account's key, name it with --from`);
  }
  const total = formatUsd(microUsdc(sources.reduce((sum, { amount }) => sum + amount, 0n)));
  const data = router.interface.encodeFunctionData("claimTo", [to]);
  const receipts = await send(session, {
    sentence: `Claim ${total} USDC to ${to}.`,
    calls: sources.map(({ name, amount, to: target }) => ({
      title: `claim ${formatUsd(microUsdc(amount))} USDC of ${name}`,
      to: target,
      data,
    })),
  });
  report(session, receipts, `${total} USDC were sent to ${to}.`, { account, to, amountUsd: total });
});
