import pg from "pg";
import { wireOf } from "./wire.ts";

// How long a question may be unanswered before the server is asked about it, and how long that may take.
const QUIET_MS = 2_000;
const PROBE_TIMEOUT_MS = 3_000;

// A network that swallows everything looks like a server that thinks. So when an answer is late, the server is asked over a
// connection of its own whether it is at work on the question. If not, or if it cannot be asked, the connection is cut, and
// the question fails as it does for any connection that was lost.
export async function unlessSilent<T>(client: pg.ClientBase, config: pg.ClientConfig, asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let isAnswered = false;
  const look = async () => {
    const isAtWork = await isActive(wireOf(client).processID, config);
    if (isAnswered) return;
    if (isAtWork) timer = setTimeout(look, QUIET_MS);
    else cut(client);
  };
  timer = setTimeout(look, QUIET_MS);
  try {
    return await asked;
  } finally {
    isAnswered = true;
    clearTimeout(timer);
  }
}

// At once: a polite end would wait for the other side.
export function cut(client: pg.ClientBase): void {
  wireOf(client).connection.stream.destroy();
}

async function isActive(pid: number, config: pg.ClientConfig): Promise<boolean> {
  const probe = new pg.Client({
    ...config,
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
    query_timeout: PROBE_TIMEOUT_MS,
  });
  probe.on("error", () => undefined);
  try {
    await probe.connect();
    const { rows } = await probe.query("SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND state = 'active'", [pid]);
    return rows.length > 0;
  } catch {
    return false;
  } finally {
    cut(probe);
  }
}
