import { adversaryFaults } from "./adversaryFaults.ts";
import { archiveFaults } from "./archiveFaults.ts";
import { chainFaults } from "./chainFaults.ts";
import { courtFaults } from "./courtFaults.ts";
import { failoverFaults } from "./failoverFaults.ts";
import type { FaultGroup } from "./faultCase.ts";
import { keyFaults } from "./keyFaults.ts";
import { laterMarketplaceFaults, marketplaceFaults } from "./marketplaceFaults.ts";
import { outageFaults } from "./outageFaults.ts";
import { processFaults } from "./processFaults.ts";
import { reconcileFaults } from "./reconcileFaults.ts";
import { rpcFaults } from "./rpcFaults.ts";
import { sharedFaults } from "./sharedFaults.ts";
import { tokenFaults } from "./tokenFaults.ts";

export const groups: readonly FaultGroup[] = [
  rpcFaults,
  chainFaults,
  tokenFaults,
  processFaults,
  adversaryFaults,
  marketplaceFaults,
  archiveFaults,
  reconcileFaults,
  courtFaults,
  keyFaults,
  sharedFaults,
  laterMarketplaceFaults,
  failoverFaults,
  outageFaults,
];
