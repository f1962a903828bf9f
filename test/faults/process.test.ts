import { processFaults } from "./processFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(processFaults);
