import {
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from "@modelcontextprotocol/sdk/types.js";
import { McpFailure } from "../McpFailure.ts";

// The id of a message that waits for an answer; undefined for notifications.
export const requestIdOf = (message: JSONRPCMessage): RequestId | undefined =>
  "method" in message && "id" in message ? message.id : undefined;

// The answer to one request in what a server sent, if it is there. Everything else is passed over: what a server asks of us
// (samples, roots, a person's input) we do not offer, and answering it would let one body cause thousands of requests.
export function answerIn(received: unknown, id: RequestId): JSONRPCMessage | undefined {
  for (const message of Array.isArray(received) ? received : [received]) {
    if (typeof message !== "object" || message === null || message.id !== id || "method" in message) continue;
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) return message;
    throw new McpFailure("malformed", "the server's answer is neither a result nor an error of JSON-RPC 2.0");
  }
  return undefined;
}
