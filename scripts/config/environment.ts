// The commands' only reader of the environment. RPC addresses and keys of public networks are not here: those are
// configuration variables, which Hardhat keeps in its encrypted keystore.
export const environment = {
  localRpcUrl: process.env.LOCAL_RPC_URL ?? "http://127.0.0.1:8545",
  // Where deployments are recorded, if not in the repository.
  deploymentsFolder: process.env.DEPLOYMENTS_FOLDER,
  // The marketplace that the commands speak to unless they are told.
  marketplaceUrl: process.env.MARKETPLACE_URL,
  // The payer's own key there, with which its receipts are asked for. It is not an option, because others can read those.
  marketplaceApiKey: process.env.MARKETPLACE_API_KEY,
  // Another explorer that speaks Etherscan's language, instead of Basescan.
  explorerApiUrl: process.env.EXPLORER_API_URL,
  // Where a run of the tests keeps the states of local chains that several of its files begin with.
  worldTemplates: process.env.WORLD_TEMPLATES,
};
