import type { DeploymentRecord } from "../../../settlement/deployment.ts";
import type { Protocol } from "../../protocol/connectProtocol.ts";
import { PARAMETER_NAMES } from "../../protocol/parameters.ts";
import { compare, type Difference } from "./difference.ts";

export async function checkParameters({ parameters }: DeploymentRecord, { staking }: Protocol): Promise<Difference[]> {
  const live = await staking.parameters();
  return PARAMETER_NAMES.flatMap((name) =>
    compare(`parameter ${name}`, parameters[name] ?? "a number in the record", live[name].toString()),
  );
}
