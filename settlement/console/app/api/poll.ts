import { AskError } from "./ask.ts";

export type PollOptions<T> = {
  load: () => Promise<T>;
  show: (data: T) => void;
  // Why there is nothing new, and since when the last answer is out.
  fail: (error: AskError, sinceMs: number) => void;
  // Whether nothing can change any more.
  isDone?: ((data: T) => boolean) | undefined;
  everyMs?: number | undefined;
};

export type Poll = {
  // Asks at once, whatever the pause.
  now(): void;
  stop(): void;
};

const EVERY_MS = 2_000;
const MAX_PAUSE_MS = 30_000;

// Asks again and again while somebody looks: never twice at a time, not at all while the tab is hidden, and more and more
// seldom while the daemon does not answer.
export function poll<T>({ load, show, fail, isDone, everyMs = EVERY_MS }: PollOptions<T>): Poll {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  let asking = false;
  let pauseMs = everyMs;
  let answeredAtMs = Date.now();

  async function tick(): Promise<void> {
    if (asking || stopped || document.hidden) return;
    clearTimeout(timer);
    asking = true;
    try {
      const data = await load();
      answeredAtMs = Date.now();
      pauseMs = everyMs;
      if (stopped) return;
      show(data);
      if (isDone?.(data)) stop();
    } catch (error) {
      if (stopped) return;
      // A page that fails to draw is a mistake of the page, and says so in the browser's own log.
      if (!(error instanceof AskError)) throw error;
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      fail(error, answeredAtMs);
    } finally {
      asking = false;
      if (!stopped) timer = setTimeout(() => void tick(), pauseMs);
    }
  }

  function stop(): void {
    stopped = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", wake);
  }
  const wake = () => void tick();
  document.addEventListener("visibilitychange", wake);
  void tick();
  return { now: wake, stop };
}
