import { setTimeout as pause } from "node:timers/promises";
import { PATIENCE_MS } from "../waiting/until.ts";

export type Reply = { status: number; body: Record<string, unknown>; headers: Headers; text: string };

// One request to the daemon: as the platform or, with another key, as a payer's SDK; null is no key at all. A text is sent
// as it is, anything else as JSON.
export type Ask = (method: string, path: string, body?: unknown, options?: AskOptions) => Promise<Reply>;

export type AskOptions = { key?: string | null; headers?: Record<string, string>; idempotencyKey?: string };

export type ClientOptions = {
  url: string;
  serviceToken: string;
  // Whether it repeats, like the public SDKs, what got no answer or a 5xx, if repeating is harmless: a daemon that is killed
  // and comes back goes unnoticed. Until the signal says otherwise.
  persistent?: AbortSignal;
};

const RETRY_MS = 500;
const FIRST_SERVER_ERROR = 500;

export function createClient({ url, serviceToken, persistent }: ClientOptions): Ask {
  return async (method, path, body, options = {}) => {
    const { key = serviceToken, headers = {}, idempotencyKey } = options;
    const request: RequestInit = {
      method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(persistent && { signal: persistent }),
    };
    const harmless = persistent !== undefined && (method === "GET" || idempotencyKey !== undefined);
    const endMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const isLast = !harmless || performance.now() >= endMs;
      try {
        const reply = await replyOf(await fetch(url + path, request));
        if (isLast || reply.status < FIRST_SERVER_ERROR) return reply;
      } catch (error) {
        if (isLast || persistent.aborted) throw error;
      }
      await pause(RETRY_MS, undefined, { signal: persistent });
    }
  };
}

async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json");
  return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers, text };
}
