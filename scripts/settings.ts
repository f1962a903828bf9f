import { join } from "node:path";

// The commands' only reader of the environment. RPC addresses and keys of public networks are not here: those are
// configuration variables, which Hardhat keeps in its encrypted keystore.
export const settings = {
  localRpcUrl: process.env.LOCAL_RPC_URL ?? "http://127.0.0.1:8545",
  deploymentsFolder: process.env.DEPLOYMENTS_FOLDER ?? join(import.meta.dirname, "..", "deployments"),
  // Another explorer that speaks Etherscan's language, instead of Basescan.
  explorerApiUrl: process.env.EXPLORER_API_URL,
};
