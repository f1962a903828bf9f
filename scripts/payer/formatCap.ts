import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";

// More USDC than there can ever be: what wallets set when they are told to approve without a limit.
const PRACTICALLY_UNLIMITED = 2n ** 64n;

export const formatCap = (cap: bigint): string =>
  cap >= PRACTICALLY_UNLIMITED ? "without limit" : `${formatUsd(microUsdc(cap))} USDC`;
