// The parameters of ToolStaking: what its constructor sets, and the bounds that it enforces.
export const PARAMETERS = {
  minimumStake: { initial: 10_000_000n, min: 1_000_000n, max: 10_000_000_000n },
  stakeMultiplier: { initial: 100n, min: 1n, max: 1_000n },
  bountyBps: { initial: 1_000n, min: 0n, max: 3_000n },
  maxPenalty: { initial: 5_000_000n, min: 0n, max: 100_000_000n },
  dailyPenaltyBps: { initial: 2_500n, min: 0n, max: 5_000n },
  earningMultiple: { initial: 100n, min: 1n, max: 1_000n },
} as const;

// The parameters of OperatorBonds, likewise.
export const BOND_PARAMETERS = {
  minimumBond: { initial: 100_000_000n, min: 10_000_000n, max: 100_000_000_000n },
  limitBps: { initial: 1_000n, min: 0n, max: 10_000n },
} as const;

export type ParameterName = keyof typeof PARAMETERS;

export const PARAMETER_NAMES = Object.keys(PARAMETERS) as ParameterName[];

export const BOND_PARAMETER_NAMES = Object.keys(BOND_PARAMETERS) as (keyof typeof BOND_PARAMETERS)[];
