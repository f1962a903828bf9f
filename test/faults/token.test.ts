import { tokenFaults } from "./cases/tokenFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(tokenFaults);
