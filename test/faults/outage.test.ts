import { outageFaults } from "./cases/outageFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(outageFaults);
