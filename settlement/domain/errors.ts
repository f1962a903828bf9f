// Expected outcomes are unions that the caller must look at. These are the others: each has a code that stays the same
// between versions, and says whether the same call may succeed later.
export type ErrorCode =
  | "invalid_amount"
  | "invalid_tool_id"
  | "invalid_input"
  | "ledger_unavailable"
  | "ledger_corrupt"
  | "archive_unavailable"
  | "fenced"
  | "chain_mismatch"
  | "chain_unavailable"
  | "signer_unavailable"
  | "deep_reorg"
  | "drift"
  | "invalid_key"
  | "invalid_config"
  | "overloaded";

export type SettlementErrorOptions = { retryable?: boolean; retryAfterMs?: number; cause?: unknown };

export class SettlementError extends Error {
  override readonly name: string = "SettlementError";
  readonly code: ErrorCode;
  readonly retryable: boolean;
  // How long to wait before it is tried again, where that is known.
  readonly retryAfterMs: number | null;

  constructor(code: ErrorCode, message: string, options: SettlementErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
