// The commands' only reader of the environment, which looks when it is asked. RPC addresses and keys of public networks are not here: those are
// configuration variables, which Hardhat keeps in its encrypted keystore.
export const environment = {
  get localRpcUrl() {
    return process.env.LOCAL_RPC_URL ?? "http://127.0.0.1:8545";
  },
  // Where deployments are recorded, if not in the repository.
  get deploymentsFolder() {
    return process.env.DEPLOYMENTS_FOLDER;
  },
  // The marketplace that the commands speak to unless they are told.
  get marketplaceUrl() {
    return process.env.MARKETPLACE_URL;
  },
  // The payer's own key there, with which its receipts are asked for. It is not an option, because others can read those.
  get marketplaceApiKey() {
    return process.env.MARKETPLACE_API_KEY;
  },
  // Another explorer that speaks Etherscan's language, instead of Basescan.
  get explorerApiUrl() {
    return process.env.EXPLORER_API_URL;
  },
  // Where a run of the tests keeps the states of local chains that several of its files begin with.
  get worldTemplates() {
    return process.env.WORLD_TEMPLATES;
  },
};
