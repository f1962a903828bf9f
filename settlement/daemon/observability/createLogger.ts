import { type DestinationStream, destination, type Logger, pino, stdSerializers } from "pino";
import type { LogLevel } from "../../config.ts";
import { API_KEY_PATTERN } from "../../domain/text/apiKeySecret.ts";

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
      formatters: { level: (label) => ({ level: label }), log: withoutPrivate, bindings: withoutPrivate },
      serializers: { err: (error: Error) => withoutPrivate(stdSerializers.err(error)) },
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

const PRIVATE = ["authorization", "headers", "privateKey"];

// Leaves out fields by their names, those of what is logged and of what is in it. Ours and not pino's `redact`, which copies every
// line whole to look for them: as much as everything else that is done for a line, and there is one for every call.
function withoutPrivate<T extends object>(logged: T, depth = 0): T {
  let clean: Record<string, unknown> | null = null;
  for (const [name, value] of Object.entries(logged)) {
    // An error is looked into when it is written.
    const isLookedInto = depth === 0 && typeof value === "object" && value !== null && !(value instanceof Error);
    const shown = PRIVATE.includes(name) ? REDACTED : isLookedInto ? withoutPrivate(value, depth + 1) : value;
    if (shown === value) continue;
    clean = { ...(clean ?? logged), [name]: shown };
  }
  return (clean ?? logged) as T;
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
