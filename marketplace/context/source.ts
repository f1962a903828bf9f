import type { Address } from "viem";

// Where one kind of context comes from. It reads what is public about an address and holds no key. An account that has
// nothing there has an empty portfolio, which is an answer; throwing is for a source that cannot be reached.
export type ContextSource = (address: Address, signal: AbortSignal) => Promise<Record<string, unknown>>;
