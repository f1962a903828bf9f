// What a daemon is told to do, and what it says afterwards: how much of it there was.
export type Task =
  | { kind: "turns" | "calls"; callers: number; measuredMs: number }
  | { kind: "settle"; maxCharges: number };
export type Report = { done: number };

export const PAYERS = 1_000;
export const SESSIONS = 200;
