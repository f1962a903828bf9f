import { chainFaults } from "./chainFaults.ts";
import type { FaultGroup } from "./faultCase.ts";
import { processFaults } from "./processFaults.ts";
import { rpcFaults } from "./rpcFaults.ts";
import { tokenFaults } from "./tokenFaults.ts";

export const groups: readonly FaultGroup[] = [rpcFaults, chainFaults, tokenFaults, processFaults];
