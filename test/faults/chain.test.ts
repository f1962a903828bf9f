import { chainFaults } from "./chainFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(chainFaults);
