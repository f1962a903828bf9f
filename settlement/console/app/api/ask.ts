// An answer other than the one that was asked for. Without a status the daemon did not answer at all.
export class AskError extends Error {
  override readonly name = "AskError";
  readonly status: number | null;

  constructor(message: string, status: number | null) {
    super(message);
    this.status = status;
  }
}

const TIMEOUT_MS = 10_000;

export const ask = <T>(path: string): Promise<T> => request<T>(path, { method: "GET" });

// A header of its own is what no other site can make a browser send, and without it a login writes nothing.
const OWN_HEADERS = { "content-type": "application/json", "x-settlement-console": "1" };

export const tell = <T>(path: string, body: unknown): Promise<T> =>
  request<T>(path, { method: "POST", headers: OWN_HEADERS, body: JSON.stringify(body) });

async function request<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  let body: unknown;
  try {
    response = await fetch(path, { ...init, credentials: "same-origin", signal: AbortSignal.timeout(TIMEOUT_MS) });
    body = await response.json();
  } catch {
    throw new AskError("The daemon does not answer.", null);
  }
  if (response.ok) return body as T;
  throw new AskError((body as { error?: string }).error ?? "The daemon refused.", response.status);
}
