import type { DeploymentRecord } from "../../settlement/deployment.ts";
import type { Session } from "../command/session.ts";
import { addressesOf, connectProtocol } from "../protocol/connectProtocol.ts";
import { checkBytecode, NO_CODE } from "./differences/bytecode.ts";
import type { Difference } from "./differences/difference.ts";
import { checkHistory } from "./differences/history.ts";
import { checkOperators } from "./differences/operators.ts";
import { checkParameters } from "./differences/parameters.ts";
import { checkRoles } from "./differences/roles.ts";
import { checkContracts, checkDelays, checkFunctionRoles } from "./differences/wiring.ts";

// Compares what is on chain with what the repository and the record say should be there.
export async function findDifferences(session: Session, record: DeploymentRecord): Promise<Difference[]> {
  const protocol = connectProtocol(addressesOf(record), session.provider);
  const bytecode = await checkBytecode(session, record);
  // Without the expected code, reading roles and parameters would only produce errors.
  if (bytecode.some(({ found }) => found === NO_CODE)) return bytecode;
  return [
    ...bytecode,
    ...(await checkHistory(session, record)),
    ...(await checkRoles(session, record, protocol)),
    ...(await checkFunctionRoles(session, record, protocol)),
    ...(await checkDelays(session, record, protocol)),
    ...(await checkContracts(session, record, protocol)),
    ...(await checkParameters(record, protocol)),
    ...(await checkOperators(session, record, protocol)),
  ];
}
