import { rpcFaults } from "./cases/rpcFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(rpcFaults);
