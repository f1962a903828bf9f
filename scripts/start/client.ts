import { setTimeout as pause } from "node:timers/promises";

export type Answer = { status: number; body: Record<string, unknown> };

// One request to the daemon, as the platform or, with a key, as a payer's SDK.
export type Ask = (method: "GET" | "POST", path: string, body?: unknown, options?: AskOptions) => Promise<Answer>;

export type AskOptions = { key?: string; idempotencyKey?: string };

const TIMEOUT_MS = 10_000;
const RETRIES = 20;
const RETRY_MS = 500;
const FIRST_SERVER_ERROR = 500;

// Like the public SDKs it repeats what got no answer, or a 5xx, if repeating is harmless. So a daemon that is killed and
// comes back goes unnoticed.
export function createClient(url: string, serviceToken: string, signal: AbortSignal): Ask {
  return async (method, path, body, { key = serviceToken, idempotencyKey } = {}) => {
    const harmless = method === "GET" || idempotencyKey !== undefined;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const response = await fetch(url + path, {
          method,
          headers: {
            authorization: `Bearer ${key}`,
            ...(body !== undefined && { "content-type": "application/json" }),
            ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        });
        const answer = { status: response.status, body: (await response.json()) as Answer["body"] };
        if (answer.status < FIRST_SERVER_ERROR || !harmless || attempt >= RETRIES) return answer;
      } catch (error) {
        if (signal.aborted || !harmless || attempt >= RETRIES) throw error;
      }
      await pause(RETRY_MS, undefined, { signal });
    }
  };
}
