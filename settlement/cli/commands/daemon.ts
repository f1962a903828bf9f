import type { DestinationStream } from "pino";
import { type Config, readConfig, secretsOf } from "../../config.ts";
import { createLogger } from "../../daemon/observability/createLogger.ts";
import { type StartOptions, startDaemon } from "../../daemon/process/startDaemon.ts";
import type { Command } from "../command.ts";
import { untilSignalled } from "../untilSignalled.ts";

export const daemon: Command = {
  name: "daemon",
  usage: "",
  help: [
    "Runs until SIGTERM or SIGINT: then it takes no more writes, finishes what is running, settles once more,",
    "gives its leases back and ends. A second signal ends it at once, which loses nothing either.",
  ],
  async run({ output }) {
    await serve(readConfig(output.environment));
    return { exitCode: 0, value: { stopped: true } };
  },
};

// Runs the service until a signal ends it, or damage in the ledger.
export async function serve(
  config: Config,
  { out, ...options }: Omit<StartOptions, "log"> & { out?: DestinationStream } = {},
): Promise<void> {
  const { log, flush } = createLogger({ level: config.logLevel, secrets: secretsOf(config), ...(out && { out }) });
  try {
    const running = await startDaemon(config, { log, ...options });
    const signal = untilSignalled(() => {
      flush();
      process.exit(1);
    });
    const damage = await Promise.race([signal, running.damaged]);
    await running.stop();
    if (damage !== undefined) throw damage;
  } finally {
    flush();
  }
}
