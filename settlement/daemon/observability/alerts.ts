import { createHmac } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { LRUCache } from "lru-cache";
import pRetry from "p-retry";
import type { Clock } from "../../clock.ts";
import { sentenceOf } from "../../domain/text/sentence.ts";

export type Alert = { kind: string; message: string; at: string };

export type Alerts = {
  // Says once in a while what asks for a person: the same kind about the same subject, such as an operator, only after a
  // quiet time, however often it happens and whatever numbers are in its words.
  raise(kind: string, message: string, subject?: string): void;
  // Resolves when what was raised is delivered or given up.
  settled(): Promise<void>;
};

export type AlertsOptions = {
  log: FastifyBaseLogger;
  clock: Clock;
  webhook: { url: string; secret: string } | null;
  quietMs?: number;
  maxQueue?: number;
  retries?: number;
  firstRetryMs?: number;
};

const QUIET_MS = 10 * 60_000;
const MAX_QUEUE = 100;
const MAX_REMEMBERED = 1_000;
const RETRIES = 5;
const FIRST_RETRY_MS = 500;
const TIMEOUT_MS = 5_000;

// An alert is a log line, and a signed message to a webhook if there is one: HMAC-SHA256 over the time and the body, so
// that the receiver knows who sent it and that it is not an old one sent again.
export function createAlerts(options: AlertsOptions): Alerts {
  const { log, clock, webhook, quietMs = QUIET_MS, maxQueue = MAX_QUEUE } = options;
  const raisedAtMs = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  const queue: Alert[] = [];
  let delivering: Promise<void> | null = null;

  async function deliver(url: string, secret: string): Promise<void> {
    for (let alert = queue.shift(); alert !== undefined; alert = queue.shift()) {
      const body = JSON.stringify(alert);
      try {
        await pRetry(() => post(url, secret, body, clock.nowMs()), {
          retries: options.retries ?? RETRIES,
          minTimeout: options.firstRetryMs ?? FIRST_RETRY_MS,
        });
      } catch (error) {
        log.error({ event: "alert_undelivered", alert: alert.kind, err: error }, "the webhook did not take an alert");
      }
    }
    delivering = null;
  }

  return {
    raise(kind, reason, subject = "") {
      const nowMs = clock.nowMs();
      const message = sentenceOf(reason);
      const name = `${kind} ${subject}`;
      const lastAtMs = raisedAtMs.get(name);
      if (lastAtMs !== undefined && nowMs - lastAtMs < quietMs && nowMs >= lastAtMs) return;
      raisedAtMs.set(name, nowMs);
      log.warn({ event: "alert", alert: kind }, message);
      if (webhook === null) return;
      // The newest are the ones to know about.
      if (queue.length >= maxQueue) queue.shift();
      queue.push({ kind, message, at: new Date(nowMs).toISOString() });
      delivering ??= deliver(webhook.url, webhook.secret);
    },
    async settled() {
      while (delivering !== null) await delivering;
    },
  };
}

async function post(url: string, secret: string, body: string, nowMs: number): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "settlement-signature": signatureOf(secret, body, nowMs) },
    body,
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the webhook answered with HTTP status ${response.status}`);
}

export function signatureOf(secret: string, body: string, nowMs: number): string {
  return `t=${nowMs},v1=${createHmac("sha256", secret).update(`${nowMs}.${body}`).digest("hex")}`;
}
