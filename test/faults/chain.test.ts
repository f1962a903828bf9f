import { chainFaults } from "./cases/chainFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(chainFaults);
