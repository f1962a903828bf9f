import { adversaryFaults } from "./cases/adversaryFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(adversaryFaults);
