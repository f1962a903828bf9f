import { createRequire } from "node:module";
import hardhatToolbox from "@nomicfoundation/hardhat-toolbox-mocha-ethers";
import { configVariable, defineConfig } from "hardhat/config";
import { tasks } from "./scripts/index.ts";
import { settings } from "./scripts/settings.ts";

const require = createRequire(import.meta.url);

export default defineConfig({
  plugins: [hardhatToolbox],
  tasks,
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
    // The node's own unlocked accounts sign.
    local: { type: "http", url: settings.localRpcUrl, accounts: "remote" },
    // RPC addresses and keys come out of Hardhat's encrypted keystore: `npx hardhat keystore set BASE_KEY`.
    "base-sepolia": {
      type: "http",
      chainType: "op",
      url: configVariable("BASE_SEPOLIA_RPC_URL"),
      accounts: [configVariable("BASE_SEPOLIA_KEY")],
    },
    base: {
      type: "http",
      chainType: "op",
      url: configVariable("BASE_RPC_URL"),
      accounts: [configVariable("BASE_KEY")],
    },
  },
  verify: { etherscan: { apiKey: configVariable("ETHERSCAN_API_KEY") } },
  typechain: { outDir: "typechain-types" },
});
