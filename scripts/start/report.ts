// What the person at the terminal reads. Standard output may be gone, when the terminal was closed; that is no reason to
// leave anything running.
process.stdout.on("error", () => undefined);

const write = (text: string) => void process.stdout.write(text);

export const say = (line = "") => write(`${line}\n`);

// A line that shows what is being done and, when it is done, how long it took.
export async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
  const startedAtMs = performance.now();
  if (process.stdout.isTTY) write(`  ${title} …`);
  const clear = process.stdout.isTTY ? "\r\u001b[K" : "";
  try {
    const result = await work();
    write(`${clear}  ${title.padEnd(52)}${((performance.now() - startedAtMs) / 1_000).toFixed(1)} s\n`);
    return result;
  } catch (error) {
    write(`${clear}  ${title.padEnd(52)}failed\n`);
    throw error;
  }
}

// Something that happened, at the time of day.
export function tell(subject: string, text: string): void {
  const time = new Date().toTimeString().slice(0, 8);
  say(`${time}  ${subject.padEnd(16)}${text}`);
}
