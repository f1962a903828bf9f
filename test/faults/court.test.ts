import { courtFaults } from "./cases/courtFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(courtFaults);
