// What the contracts' bytecode depends on besides their sources. Hardhat builds with it, and deployments record it.
export const compiler = {
  version: "0.8.37",
  settings: {
    evmVersion: "cancun",
    viaIR: true,
    optimizer: { enabled: true, runs: 1_000 },
  },
};

// For Solidity tests, which call deployed contracts: whatever shortens the compiler's work serves them. Those of libraries are
// not among them, because a library's code becomes a part of its test.
export const testCompiler = {
  ...compiler,
  settings: { ...compiler.settings, viaIR: false, optimizer: { enabled: true, runs: 1 } },
};
