import type { DeploymentRecord } from "../../../settlement/deployment.ts";
import type { Protocol } from "../../protocol/connectProtocol.ts";
import { BOND_PARAMETER_NAMES, PARAMETER_NAMES } from "../../protocol/parameters.ts";
import { compare, type Difference } from "./difference.ts";

export async function checkParameters(
  { parameters }: DeploymentRecord,
  { staking, bonds }: Protocol,
): Promise<Difference[]> {
  const [ofTools, ofBonds] = await Promise.all([staking.parameters(), bonds.parameters()]);
  const live = [
    ...PARAMETER_NAMES.map((name) => [name, ofTools[name]] as const),
    ...BOND_PARAMETER_NAMES.map((name) => [name, ofBonds[name]] as const),
  ];
  return live.flatMap(([name, value]) =>
    compare(`parameter ${name}`, parameters[name] ?? "a number in the record", value.toString()),
  );
}
