import { testFaults } from "./testFaults.ts";
import { tokenFaults } from "./tokenFaults.ts";

testFaults(tokenFaults);
