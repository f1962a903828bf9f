import { archiveFaults } from "./cases/archiveFaults.ts";
import { testFaults } from "./testFaults.ts";

testFaults(archiveFaults);
