import { rpcFaults } from "./rpcFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(rpcFaults);
