import { marketplaceFaults } from "./cases/marketplaceFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(marketplaceFaults);
