import { Interface } from "ethers";
import { required } from "../../command/arguments.ts";
import { CommandError } from "../../command/CommandError.ts";
import { command } from "../../command/command.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { CONTRACT_KEYS, CONTRACTS } from "../../protocol/description.ts";
import { act } from "../act.ts";

type Arguments = CommonArguments & { contract: string | undefined; method: string | undefined; arguments: string };

// `operation schedule`: anything that the admin may do and that has no command of its own, such as giving a role away.
export default command<Arguments>(async (args, session) => {
  const name = required("--contract", args.contract);
  const target = CONTRACT_KEYS.find((key) => key === name);
  if (!target) throw new CommandError(`--contract is "${name}": name ${CONTRACT_KEYS.join(", ")}`);
  const method = required("--method", args.method);
  const data = encodeCall(target, method, args.arguments);
  await act(session, await openDeployment(session), {
    sentence: `Call ${method} of the ${target} with ${args.arguments}.`,
    title: `${target}.${method}`,
    target,
    data,
    role: "admin",
    done: "Done.",
    document: { contract: target, method },
  });
});

function encodeCall(target: (typeof CONTRACT_KEYS)[number], method: string, text: string): string {
  const abi = new Interface(CONTRACTS[target].factory.abi);
  const fragment = abi.getFunction(method);
  if (!fragment) throw new CommandError(`the ${target} has no function ${method}`);
  try {
    return abi.encodeFunctionData(fragment, JSON.parse(text));
  } catch {
    const inputs = fragment.inputs.map((input) => `${input.type} ${input.name}`).join(", ");
    throw new CommandError(`--arguments is ${text}: write a JSON list with ${inputs || "nothing in it"}`);
  }
}
