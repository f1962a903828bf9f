import type { ZodType } from "zod";

export type FetchJson = { signal: AbortSignal; body?: unknown };

const MAX_BYTES = 4 * 1_024 * 1_024;

// Reads JSON of a known public API, bounded in size, and in time by the caller, and in the shape that is needed of it.
export async function fetchJson<T>(url: string, schema: ZodType<T>, { signal, body }: FetchJson): Promise<T> {
  const { hostname } = new URL(url);
  const response = await fetch(url, {
    signal,
    redirect: "error",
    ...(body !== undefined && {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`${hostname} answered HTTP ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new Error(`${hostname} answered more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  const parsed = schema.safeParse(JSON.parse(Buffer.concat(chunks).toString("utf8")));
  if (!parsed.success) throw new Error(`${hostname} answered something unexpected: ${parsed.error.issues[0]?.message}`);
  return parsed.data;
}
