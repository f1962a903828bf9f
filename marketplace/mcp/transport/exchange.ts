import { AsyncLocalStorage } from "node:async_hooks";

// What belongs to one request, beside the message itself. The SDK's client hands a transport nothing but the message, so this
// travels with the asynchronous context.
export type Exchange = {
  token: string | undefined;
  requestId: string | undefined;
  // Ends the HTTP request itself: the SDK only sends a notification.
  signal: AbortSignal;
  // Whether the request may have reached the server.
  sent: boolean;
  // As which tools the server says that it is sold, once it has said anything. Null: it does not say.
  toolIds?: readonly string[] | null;
};

export const currentExchange = new AsyncLocalStorage<Exchange>();
