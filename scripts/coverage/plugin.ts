import type { HardhatPlugin } from "hardhat/types/plugins";

// Adds to Hardhat's coverage what it lacks: a record of every statement, and the outcomes of every condition.
export const conditionCoverage: HardhatPlugin = {
  id: "condition-coverage",
  hookHandlers: { solidity: () => import("./recordSource.ts") },
};
