export type NetworkName = "local" | "base-sepolia" | "base";

export type Network = {
  chainIds: readonly bigint[];
  usdc: string;
  explorer: string | undefined;
};

const USDC_ON_BASE = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

// What the commands know of each network. A local chain has USDC at the address of Base, so that nothing but the network
// differs between a rehearsal and the real thing.
export const NETWORKS = {
  local: { chainIds: [31337n, 8453n], usdc: USDC_ON_BASE, explorer: undefined },
  "base-sepolia": {
    chainIds: [84532n],
    usdc: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    explorer: "https://sepolia.basescan.org",
  },
  base: { chainIds: [8453n], usdc: USDC_ON_BASE, explorer: "https://basescan.org" },
} as const satisfies Record<NetworkName, Network>;

export const isNetworkName = (name: string): name is NetworkName => Object.hasOwn(NETWORKS, name);
