import { keyFaults } from "./cases/keyFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(keyFaults);
