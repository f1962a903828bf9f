import { accrue, accrueByCallers } from "../accrue.ts";
import { measureCourt } from "../court/measureCourt.ts";
import { drainByBacklog } from "../drain/measureDrain.ts";
import { measureGas } from "../gas/measureGas.ts";
import { measureGrowth } from "../gas/measureGrowth.ts";
import { measureHttp } from "../http/measureHttp.ts";
import { measureLedger } from "../ledger/measureLedger.ts";
import { describeCommit, describeMachine } from "./describeMachine.ts";
import { medianOf } from "./medianOf.ts";

const RUNS = 3;

// Results that were written before there was a court have none.
export type Measured = Omit<Everything, "court"> & Partial<Pick<Everything, "court">>;

type Everything = Awaited<ReturnType<typeof measureAll>>;

// Everything that is on the page. Timings are medians of several runs, or say so where they are not.
export async function measureAll() {
  // Before anything is measured: whoever works on while this runs changes nothing that is measured.
  const measured = {
    date: new Date().toISOString().slice(0, 10),
    commit: describeCommit(),
    machine: describeMachine(),
  };
  const gas = await measureGas();
  console.error("How gas grows with calls, payers and tools …");
  const growth = await measureGrowth();
  console.error("Accruals, 64 callers, three times …");
  const accruals = [];
  for (let run = 0; run < RUNS; run++) accruals.push(await accrue());
  console.error("Accruals by the number of callers …");
  const callers = await accrueByCallers();
  console.error("Draining backlogs …");
  const drains = await drainByBacklog();
  console.error("HTTP …");
  const http = await measureHttp();
  console.error("Room in the ledger …");
  const ledger = await measureLedger();
  const court = await measureCourt();
  return { ...measured, gas, growth, accrue: medianOf(accruals), callers, drains, http, ledger, court };
}
