import { type DestinationStream, destination, type Logger, pino, stdSerializers } from "pino";
import type { LogLevel } from "../../config.ts";
import { API_KEY_PATTERN } from "../../domain/apiKeySecret.ts";

const REDACTED = "[redacted]";
const FLUSH_BYTES = 16_000;
const FLUSH_EVERY_MS = 500;

export type DaemonLogger = { log: Logger; flush(): void };

// JSON lines on standard output, gathered for a moment. The last thing before a line leaves is a filter that knows every
// secret of the configuration and the form of API keys: a secret that got into a message by whatever way stops there.
export function createLogger(options: {
  level: LogLevel;
  secrets: readonly string[];
  out?: DestinationStream;
}): DaemonLogger {
  const file = options.out === undefined ? destination({ dest: 1, sync: false, minLength: FLUSH_BYTES }) : undefined;
  const timer = file && setInterval(() => file.flush(), FLUSH_EVERY_MS).unref();
  const out = options.out ?? (file as DestinationStream);
  const scrub = createScrub(options.secrets);
  const log = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: stdSerializers.err },
      redact: { paths: ["authorization", "*.authorization", "headers", "*.headers", "privateKey", "*.privateKey"] },
    },
    { write: (line) => void out.write(scrub(line)) },
  );
  return {
    log,
    flush() {
      clearInterval(timer);
      file?.flushSync();
    },
  };
}

export function createScrub(secrets: readonly string[]): (line: string) => string {
  // As they look inside a JSON text; longest first, in case one is part of another.
  const forms = secrets
    .filter((secret) => secret.length > 0)
    .map((secret) => JSON.stringify(secret).slice(1, -1))
    .sort((a, b) => b.length - a.length);
  const apiKeys = new RegExp(API_KEY_PATTERN.source, "g");
  return (line) => {
    let clean = line.includes("sk_live_") ? line.replace(apiKeys, REDACTED) : line;
    for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED);
    return clean;
  };
}
