import { formatUsd, microUsdc, parseUsd } from "../../settlement/domain/money.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { openDeployment } from "../command/deployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { act } from "./act.ts";

type Arguments = CommonArguments & {
  minimumStake: string | undefined;
  stakeMultiplier: string | undefined;
  bountyBps: string | undefined;
};

// `set-parameters`: what is not named stays as it is.
export default command<Arguments>(async (args, session) => {
  const deployment = await openDeployment(session);
  const current = await deployment.staking.parameters();
  const next = {
    minimumStake: args.minimumStake === undefined ? current.minimumStake : parseUsd(args.minimumStake),
    stakeMultiplier: parseWhole("--stake-multiplier", args.stakeMultiplier) ?? current.stakeMultiplier,
    bountyBps: parseWhole("--bounty-bps", args.bountyBps) ?? current.bountyBps,
  };
  checkBounds(next);
  const minimumStakeUsd = formatUsd(microUsdc(next.minimumStake));
  const text = `a minimum stake of ${minimumStakeUsd} USDC, ${next.stakeMultiplier} times the price, and a bounty of ${next.bountyBps} hundredths of a percent`;
  await act(session, deployment, {
    sentence: `Set the parameters to ${text}.`,
    title: "set the parameters",
    target: "staking",
    data: deployment.staking.interface.encodeFunctionData("setParameters", [next]),
    role: "admin",
    done: `The parameters are now ${text}.`,
    document: {
      minimumStakeUsd,
      stakeMultiplier: Number(next.stakeMultiplier),
      bountyBps: Number(next.bountyBps),
    },
  });
});

function parseWhole(option: string, text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  if (!/^[0-9]+$/.test(text)) throw new CommandError(`${option} is "${text}": write a whole number.`);
  return BigInt(text);
}

// The contract enforces the same bounds, but only when the operation is executed, days after it was scheduled.
function checkBounds(next: { minimumStake: bigint; stakeMultiplier: bigint; bountyBps: bigint }): void {
  const bounds = [
    ["--minimum-stake", next.minimumStake, 1_000_000n, 10_000_000_000n, "1 to 10000 USDC"],
    ["--stake-multiplier", next.stakeMultiplier, 1n, 1_000n, "1 to 1000"],
    ["--bounty-bps", next.bountyBps, 0n, 3_000n, "0 to 3000"],
  ] as const;
  for (const [option, value, min, max, text] of bounds) {
    if (value < min || value > max) throw new CommandError(`${option} has to be ${text}. Nothing was sent.`);
  }
}
