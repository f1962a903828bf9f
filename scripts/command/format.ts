import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";

const SECONDS_PER_DAY = 24 * 60 * 60;
const SECONDS_PER_HOUR = 60 * 60;

// A point in the chain's time, as people read it.
export const formatTime = (seconds: bigint): string =>
  `${new Date(Number(seconds) * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;

export function formatDuration(seconds: bigint): string {
  const total = Number(seconds);
  if (total >= 2 * SECONDS_PER_DAY) return `${Math.ceil(total / SECONDS_PER_DAY)} days`;
  if (total >= 2 * SECONDS_PER_HOUR) return `${Math.ceil(total / SECONDS_PER_HOUR)} hours`;
  return `${Math.ceil(total / 60)} minutes`;
}

// More USDC than there can ever be: what wallets set when they are told to approve without a limit.
const PRACTICALLY_UNLIMITED = 2n ** 64n;

export const formatCap = (cap: bigint): string =>
  cap >= PRACTICALLY_UNLIMITED ? "without limit" : `${formatUsd(microUsdc(cap))} USDC`;
