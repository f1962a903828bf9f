const SIGNALS = ["SIGTERM", "SIGINT"] as const;

// Resolves at the first signal to end. `again` is what happens at the next one.
export function untilSignalled(again: () => void): Promise<void> {
  return new Promise((resolve) => {
    let first = true;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (!first) again();
        first = false;
        resolve();
      });
    }
  });
}
