import { readConfig, secretsOf } from "../../config.ts";
import { createLogger } from "../../daemon/createLogger.ts";
import { startDaemon } from "../../daemon/startDaemon.ts";
import type { Command } from "../command.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

export const daemon: Command = {
  name: "daemon",
  usage: "",
  help: [
    "Runs until SIGTERM or SIGINT: then it takes no more writes, finishes what is running, settles once more,",
    "gives its leases back and ends. A second signal ends it at once, which loses nothing either.",
  ],
  async run({ output }) {
    const config = readConfig(output.environment);
    const { log, flush } = createLogger({ level: config.logLevel, secrets: secretsOf(config) });
    try {
      const running = await startDaemon(config, { log });
      await signalled(() => {
        flush();
        process.exit(1);
      });
      await running.stop();
      return { exitCode: 0, value: { stopped: true } };
    } finally {
      flush();
    }
  },
};

function signalled(again: () => void): Promise<void> {
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
