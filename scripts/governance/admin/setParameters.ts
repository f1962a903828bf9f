import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import { parseAmount } from "../../command/arguments.ts";
import { CommandError } from "../../command/CommandError.ts";
import { command } from "../../command/command.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { PARAMETER_NAMES, PARAMETERS, type ParameterName } from "../../protocol/parameters.ts";
import { act } from "../act.ts";
import { describeParameters, documentOf, isMoney } from "./parameters.ts";

type Arguments = CommonArguments & Record<ParameterName, string | undefined>;

// `set-parameters`: what is not named stays as it is.
export default command<Arguments>(async (args, session) => {
  const deployment = await openDeployment(session);
  const current = await deployment.staking.parameters();
  const next = Object.fromEntries(
    PARAMETER_NAMES.map((name) => [name, parse(name, args[name]) ?? current[name]]),
  ) as Record<ParameterName, bigint>;
  for (const name of PARAMETER_NAMES) checkBounds(name, next[name]);
  await act(session, deployment, {
    sentence: "Set the parameters.",
    rows: describeParameters(next),
    title: "set the parameters",
    target: "staking",
    data: deployment.staking.interface.encodeFunctionData("setParameters", [next]),
    role: "admin",
    done: "The parameters are set.",
    document: documentOf(next),
  });
});

const optionOf = (name: ParameterName) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function parse(name: ParameterName, text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  if (isMoney(name)) return parseAmount(optionOf(name), text);
  if (!/^[0-9]+$/.test(text)) throw new CommandError(`${optionOf(name)} is "${text}": write a whole number`);
  return BigInt(text);
}

// The contract enforces the same bounds, but only when the operation is executed, days after it was scheduled.
function checkBounds(name: ParameterName, value: bigint): void {
  const { min, max } = PARAMETERS[name];
  if (value >= min && value <= max) return;
  const text = isMoney(name) ? `${formatUsd(microUsdc(min))} to ${formatUsd(microUsdc(max))} USDC` : `${min} to ${max}`;
  throw new CommandError(`${optionOf(name)} must be ${text}`);
}
