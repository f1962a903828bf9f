// Tests see nothing of what the developer's shell is set up for: no network, database or key that somebody works with, and
// no proxy between the programs of this machine.
const FOREIGN =
  /^(SETTLEMENT_|MARKETPLACE_|PG[A-Z]+$|BASE_|ETHERSCAN_|EXPLORER_|DEPLOYMENTS_FOLDER$|LOCAL_RPC_URL$|FOUNDRY_|ANVIL_|ETH_)/;

export function isolateEnvironment(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(environment)) if (FOREIGN.test(name)) delete environment[name];
  environment.NODE_ENV = "test";
  environment.NO_PROXY = environment.no_proxy = "127.0.0.1";
}
