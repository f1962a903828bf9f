import { processFaults } from "./cases/processFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(processFaults);
