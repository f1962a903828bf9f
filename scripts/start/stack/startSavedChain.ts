import { createWriteStream, existsSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { JsonRpcProvider } from "ethers";
import { type Anvil, startAnvil } from "../../world/hosts/startAnvil.ts";
import { post } from "../../world/hosts/transact.ts";
import { ACCOUNTS } from "../demo/people.ts";
import { StartError } from "../StartError.ts";
import { replace, type StateFolder } from "../state/stateFolder.ts";

export type SavedChain = {
  url: string;
  ended: Anvil["ended"];
  provider: JsonRpcProvider;
  // Blocks come by themselves from now on, as on Base.
  mine(): Promise<void>;
  // Writes the state down, whole or not at all.
  save(): Promise<void>;
  stop(): Promise<void>;
};

export const CHAIN_ID = 31337;
export const BLOCK_SECONDS = 2;
// From the second block on, the newest final block has a state that was not there before the start.
const BLOCKS_TO_FINALITY = 3;

// A local chain that continues from its saved state, if there is one.
export async function startSavedChain({ chain: path, chainLog }: StateFolder, port: number): Promise<SavedChain> {
  const anvil = await startAnvil({
    port,
    chainId: CHAIN_ID,
    arguments: ["--accounts", `${ACCOUNTS}`, "--state", path],
  }).catch((error: unknown) => {
    if (!existsSync(path)) throw error;
    throw new StartError(
      `the chain's state ${path} cannot be read, perhaps because it was cut off while it was written: ` +
        "npm start -- --reset starts over",
    );
  });
  const log = createWriteStream(chainLog, { flags: "w" });
  anvil.child.stdout?.pipe(log);
  anvil.child.stderr?.pipe(log);
  const { url, ended } = anvil;
  const provider = new JsonRpcProvider(url, CHAIN_ID, { staticNetwork: true, cacheTimeout: -1, polling: true });
  provider.pollingInterval = 10;
  return {
    url,
    ended,
    provider,
    async mine() {
      // A node that was started from a file has no state of older blocks.
      await post(url, [["anvil_mine", [`0x${BLOCKS_TO_FINALITY}`]]]);
      await post(url, [["evm_setIntervalMining", [BLOCK_SECONDS]]]);
    },
    async save() {
      const [dump] = (await post(url, [["anvil_dumpState", []]])) as [string];
      replace(path, gunzipSync(Buffer.from(dump.slice(2), "hex")));
    },
    async stop() {
      provider.destroy();
      await anvil.stop();
    },
  };
}
