import type { Runner } from "../database/transactions/createRunner.ts";
import { acquireLease } from "./acquireLease.ts";
import { planFiller, removeFence, setFence } from "./fence.ts";
import { haltForUndoneBlock, noteFinalized, readFinalized } from "./finality.ts";
import { beginToLook, halt, readHalt, resume } from "./halt.ts";
import { haltForForeignNonces } from "./haltForForeignNonces.ts";
import { fenceOff, noteHome, readClock } from "./home.ts";
import { createLeased } from "./lease.ts";
import { listOperators } from "./listOperators.ts";
import { releaseLease } from "./releaseLease.ts";
import { liftFence, retire } from "./retire.ts";
import { readRowBound, setRowBound } from "./rowBound.ts";

export type Operators = ReturnType<typeof createOperators>;

// One writer per operator key, and none at all while there is a halt.
export function createOperators(runner: Runner) {
  const { alone, read } = runner;
  const leased = createLeased(runner);
  return {
    acquireLease: alone(acquireLease),
    releaseLease: alone(releaseLease),
    halt: alone(halt),
    resume: alone(resume),
    haltForForeignNonces: leased(haltForForeignNonces),
    haltForUndoneBlock: alone(haltForUndoneBlock),
    noteHome: alone(noteHome),
    readClock: alone(readClock),
    fenceOff: alone(fenceOff),
    setFence: leased(setFence),
    removeFence: leased(removeFence),
    planFiller: leased(planFiller),
    retire: leased(retire),
    liftFence: leased(liftFence),
    setRowBound: leased(setRowBound),
    readRowBound: read(readRowBound),
    noteFinalized: alone(noteFinalized),
    readFinalized: read(readFinalized),
    listOperators: read(listOperators),
    readHalt: read(readHalt),
    beginToLook: read(beginToLook),
  };
}
