import type { InfrastructureReason } from "./outcome.ts";

// Why an exchange with an MCP server failed. It is thrown below the client, which makes an outcome of it.
export class McpFailure extends Error {
  override readonly name = "McpFailure";
  readonly reason: InfrastructureReason;
  readonly status: number | undefined;

  constructor(reason: InfrastructureReason, message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.reason = reason;
    this.status = options.status;
  }
}
