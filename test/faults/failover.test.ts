import { failoverFaults } from "./cases/failoverFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(failoverFaults);
