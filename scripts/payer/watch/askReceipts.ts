import { printable } from "../../command/printable.ts";
import { type ReceiptsAnswer, receiptsAnswer } from "../../receipts/receipts.ts";

// What a marketplace says of a batch: receipts, that it has none, or nothing that could be read. None of it is believed.
export type Asked =
  | { kind: "answered"; answer: ReceiptsAnswer }
  | { kind: "none" }
  | { kind: "silent"; reason: string };

export type AskReceipts = (batchId: string) => Promise<Asked>;

const TIMEOUT_MS = 20_000;
const MAX_BYTES = 100_000_000;
const TRIES = 2;
// A marketplace that is away is not waited for again and again in one look.
const MAX_SILENT = 3;

export type AskOptions = { url: string; apiKey: string; timeoutMs?: number };

// Asks a marketplace for the receipts of the account that the key belongs to. One look of the watch: the next one asks again.
export function createAskReceipts({ url, apiKey, timeoutMs = TIMEOUT_MS }: AskOptions): AskReceipts {
  let silent = 0;
  return async (batchId) => {
    let asked: Asked = { kind: "silent", reason: "it did not answer before, and was not asked again" };
    for (let tries = 0; tries < TRIES && silent < MAX_SILENT; tries++) {
      asked = await askOnce(`${url}/api/v1/batches/${batchId}/receipts`, apiKey, timeoutMs);
      if (asked.kind !== "silent") break;
    }
    silent = asked.kind === "silent" ? silent + 1 : 0;
    return asked;
  };
}

async function askOnce(url: string, apiKey: string, timeoutMs: number): Promise<Asked> {
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${apiKey}` },
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status === 404) return { kind: "none" };
    if (response.status === 401 || response.status === 403) {
      return { kind: "silent", reason: `it refuses the key with ${response.status}: check MARKETPLACE_API_KEY` };
    }
    if (response.status !== 200) return { kind: "silent", reason: `it answers with ${response.status}` };
    const read = receiptsAnswer.safeParse(JSON.parse(await bodyOf(response)));
    if (read.success) return { kind: "answered", answer: read.data };
    const field = read.error.issues[0]?.path.join(".") || "the answer";
    return { kind: "silent", reason: `what it answers is no list of receipts: ${printable(field)} is wrong` };
  } catch (error) {
    return { kind: "silent", reason: reasonOf(error, timeoutMs) };
  }
}

function reasonOf(error: unknown, timeoutMs: number): string {
  if (error instanceof SyntaxError) return "what it answers is not JSON";
  if (error instanceof RangeError) return error.message;
  const isLate = error instanceof Error && error.name === "TimeoutError";
  return isLate ? `it has not answered within ${timeoutMs / 1_000} seconds` : "it cannot be reached";
}

async function bodyOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > MAX_BYTES) throw new RangeError(`it answers more than ${MAX_BYTES / 1_000_000} MB`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
