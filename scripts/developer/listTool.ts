import { id as hashOf, ZeroAddress } from "ethers";
import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { uuidFromToolId } from "../../settlement/domain/toolId.ts";
import { parseAddress, parseAmount, required, requiredAmount } from "../command/arguments.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { approvalCalls } from "../command/transaction/approval.ts";
import { report, send } from "../command/transaction/send.ts";

type Arguments = CommonArguments & {
  name: string | undefined;
  price: string | undefined;
  stake: string | undefined;
  payout: string | undefined;
};

// `list-tool`: the id follows from the owner and the name, so the same command given twice lists one tool.
export default command<Arguments>(async (args, session) => {
  // What is typed is read first, so that nothing else hides what is wrong with it.
  const name = required("--name", args.name);
  const price = requiredAmount("--price", args.price);
  const asked = args.stake === undefined ? undefined : parseAmount("--stake", args.stake);
  const deployment = await openDeployment(session);
  const { staking, addresses } = deployment;
  const owner = (await session.signer()).address;
  const needed = microUsdc(await staking.requiredStake(price));
  const stake = asked ?? needed;
  const payout = args.payout === undefined ? owner : parseAddress("--payout", args.payout);
  const salt = hashOf(name);
  const toolId = await staking.toolIdOf(owner, salt);
  const uuid = uuidFromToolId(toolId);
  if ((await staking.tool(toolId)).owner !== ZeroAddress) {
    throw new CommandError(`"${name}" is listed already, as ${uuid}: choose another --name`);
  }
  if (stake < needed) {
    throw new CommandError(
      `stake is ${formatUsd(stake)}, this price needs ${formatUsd(needed)}: ` +
        `use --stake ${formatUsd(needed)} or a lower --price`,
    );
  }
  const receipts = await send(session, {
    sentence: `List "${name}" at ${formatUsd(price)} USDC per use and stake ${formatUsd(stake)} USDC for it.`,
    rows: [
      ["tool", uuid],
      ["earnings to", payout],
    ],
    calls: [
      ...(await approvalCalls(deployment, owner, addresses.staking, stake)),
      {
        title: "list the tool",
        to: addresses.staking,
        data: staking.interface.encodeFunctionData("list", [salt, price, payout, stake]),
      },
    ],
  });
  report(session, receipts, `Listed as ${uuid}.`, {
    tool: uuid,
    owner,
    payout,
    priceUsd: formatUsd(price),
    stakeUsd: formatUsd(stake),
  });
});
