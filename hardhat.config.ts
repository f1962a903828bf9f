import { createRequire } from "node:module";
import hardhatToolbox from "@nomicfoundation/hardhat-toolbox-mocha-ethers";
import { defineConfig } from "hardhat/config";
import { conditionCoverage } from "./scripts/coverage/plugin.ts";

const require = createRequire(import.meta.url);

export default defineConfig({
  plugins: [hardhatToolbox, conditionCoverage],
  solidity: {
    npmFilesToBuild: ["@openzeppelin/contracts/access/manager/AccessManager.sol"],
    compilers: [
      {
        version: "0.8.37",
        // The compiler comes from npm like everything else, so a build needs no other download.
        path: require.resolve("solc/soljson.js"),
        settings: {
          evmVersion: "cancun",
          viaIR: true,
          optimizer: { enabled: true, runs: 1_000_000 },
        },
      },
    ],
  },
  paths: {
    sources: ["contracts", "bench/contracts"],
    tests: { mocha: "test/contracts", solidity: "test/solidity" },
  },
  networks: {
    default: { type: "edr-simulated", chainType: "op" },
  },
  coverage: { skipFiles: ["bench/**"] },
  typechain: { outDir: "typechain-types" },
});
