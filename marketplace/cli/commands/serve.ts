import type { Command } from "../../../settlement/cli/command.ts";
import { untilSignalled } from "../../../settlement/cli/untilSignalled.ts";
import { createLogger } from "../../../settlement/daemon/observability/createLogger.ts";
import { readMarketConfig, secretsOf } from "../../config.ts";
import { startMarketplace } from "../../process/startMarketplace.ts";

export const serve: Command = {
  name: "serve",
  usage: "",
  help: [
    "Runs until SIGTERM or SIGINT: then it takes no more writes, finishes the calls that are running, and ends. A second",
    "signal ends it at once: calls that were running are then not charged.",
  ],
  async run({ output }) {
    const config = readMarketConfig(output.environment);
    const { log, flush } = createLogger({ level: config.logLevel, secrets: secretsOf(config) });
    try {
      const running = await startMarketplace(config, { log });
      await untilSignalled(() => {
        flush();
        process.exit(1);
      });
      await running.stop();
    } finally {
      flush();
    }
    return { exitCode: 0, value: { stopped: true } };
  },
};
