import { laterMarketplaceFaults, marketplaceFaults } from "./cases/marketplaceFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(marketplaceFaults);
testFaults(laterMarketplaceFaults);
