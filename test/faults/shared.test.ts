import { sharedFaults } from "./cases/sharedFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(sharedFaults);
