// What the contracts' bytecode depends on besides their sources. Hardhat builds with it, and deployments record it.
export const compiler = {
  version: "0.8.37",
  settings: {
    evmVersion: "cancun",
    viaIR: true,
    optimizer: { enabled: true, runs: 1_000 },
  },
};
