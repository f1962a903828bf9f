import type { Address, Hex } from "viem";

// A payer's way in. The key itself is shown once, when it is made; what is kept is its hash.
export type ApiKey = {
  id: string;
  payer: Address;
  // What its owner calls it.
  label: string;
  createdAtMs: number;
  revokedAtMs: number | null;
};

export type NewApiKey = { id: string; hash: Hex; payer: Address; label: string };
