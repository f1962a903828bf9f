const PROTECTED: ReadonlySet<unknown> = new Set(["tools/call"]);
const OPEN: ReadonlySet<unknown> = new Set([
  "initialize",
  "tools/list",
  "resources/list",
  "prompts/list",
  "ping",
  "notifications/initialized",
]);

// What must be paid for, and so must come from the marketplace.
export const isProtectedMcpMethod = (method: unknown): boolean => PROTECTED.has(method);

// What everybody may ask, so that a tool can be found and looked at.
export const isOpenMcpMethod = (method: unknown): boolean => OPEN.has(method);

// Whether anything in a body is protected. A JSON-RPC batch is as good as the calls in it: without this, whoever puts square
// brackets around a call has it for nothing.
export const needsToken = (body: unknown): boolean =>
  (Array.isArray(body) ? body : [body]).some((message) => isProtectedMcpMethod(message?.method));
