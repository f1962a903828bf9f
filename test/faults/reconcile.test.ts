import { reconcileFaults } from "./cases/reconcileFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(reconcileFaults);
