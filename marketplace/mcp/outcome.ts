// What became of a request to a tool. These are expected, so they are a union that the caller must look at; only what
// nobody foresaw throws.
//
// Execute charges for `answered` and for nothing else. `sent` says whether the tool may have seen the call: once it may
// have, the call is never sent a second time.

// What an MCP server answered to `tools/call`, with nothing left out: its hash is evidence.
export type ToolResult = {
  content: readonly ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean | undefined;
  _meta?: Record<string, unknown> | undefined;
};

export type ContentBlock = { type: string; [field: string]: unknown };

// A person is asked to sign, to send a transaction or to log in, which nobody behind an API can do.
export type HandshakeAction = {
  _action: "signature_request" | "transaction_proposal" | "auth_required";
  [field: string]: unknown;
};

export type Answered = {
  kind: "answered";
  // As it is handed to the buyer.
  result: unknown;
  raw: ToolResult;
};

// The tool worked and asks for a person. Nothing was delivered.
export type HandshakeRequired = { kind: "handshakeRequired"; action: HandshakeAction; raw: ToolResult };

// The tool itself said that the call failed: by `isError`, or by a JSON-RPC error.
export type ToolFailed = { kind: "toolFailed"; message: string; raw?: ToolResult };

export type InfrastructureReason =
  // The endpoint is not one that may be called: no HTTPS, credentials in it, an address of ours.
  | "forbiddenEndpoint"
  // No connection: name, port, certificate.
  | "unreachable"
  // The connection ended before the answer did.
  | "disconnected"
  // HTTP 401 or 403.
  | "unauthorized"
  // HTTP 429.
  | "rateLimited"
  // A redirect, which is never followed.
  | "redirected"
  // The server no longer knows the session that the call was sent in.
  | "sessionLost"
  // Any other HTTP status.
  | "httpStatus"
  // Larger, deeper or otherwise more than is read.
  | "tooLarge"
  // Not MCP: no JSON, not UTF-8, no answer to this request, an encoding that nobody asked for.
  | "malformed"
  // The endpoint failed so often that it is left alone for a while.
  | "circuitOpen"
  // More calls wait for this method than can be served in time.
  | "overloaded";

export type Infrastructure = {
  kind: "infrastructure";
  reason: InfrastructureReason;
  message: string;
  sent: boolean;
  status?: number;
};

export type Cancelled = { kind: "cancelled"; sent: boolean };

export type TimedOut = { kind: "timedOut"; afterMs: number; sent: boolean };

export type Failure = Infrastructure | Cancelled | TimedOut;

export type CallOutcome = Answered | HandshakeRequired | ToolFailed | Failure;

// One line for the tool's own developer, with all that is known. Where the server is and what it says of itself is nobody else's.
export function describeFailure(outcome: Exclude<CallOutcome, Answered>): string {
  switch (outcome.kind) {
    case "handshakeRequired":
      return `the tool asks for a person (${outcome.action._action}), which no API can answer`;
    case "toolFailed":
    case "infrastructure":
      return outcome.message;
    case "cancelled":
      return "the call was cancelled";
    case "timedOut":
      return `the tool did not answer within ${outcome.afterMs / 1_000} s`;
  }
}

// The same for whoever buys from it, the way the SDKs' users read it. What the tool says to its callers is handed on; what its server or
// something before it says by HTTP, and where that is, is not. The edge puts its own words before it.
export function describeToBuyer(outcome: Exclude<CallOutcome, Answered>): string {
  if (outcome.kind !== "infrastructure") return describeFailure(outcome);
  const status = outcome.status === undefined ? "" : ` (HTTP ${outcome.status})`;
  switch (outcome.reason) {
    case "forbiddenEndpoint":
      return "the tool's server is at an address that may not be called";
    case "unreachable":
      return "the tool's server cannot be reached";
    case "disconnected":
      return "the connection to the tool's server ended before the answer did";
    case "unauthorized":
      return `the tool's server refused the call${status}`;
    case "rateLimited":
      return `the tool's server is asked too often at present${status}`;
    case "redirected":
      return "the tool's server redirects, which is not followed";
    case "httpStatus":
      return `the tool's server failed${status}`;
    case "malformed":
      return "the tool's server answered something that is not MCP";
    default:
      return outcome.message;
  }
}
