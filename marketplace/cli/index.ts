// `npm run --silent market -- <command>`: the command line of whoever operates the marketplace.
import { type Listed, runCommand } from "../../settlement/cli/runCommand.ts";

const commands: readonly Listed[] = [
  {
    name: "signing-keys",
    summary: "make or rotate the keys that sign requests to tools",
    load: async () => (await import("./commands/signingKeys.ts")).signingKeys,
  },
  {
    name: "evidence",
    summary: "list answers that broke a promise, or write one for hardhat convict",
    load: async () => (await import("./commands/evidence.ts")).evidence,
  },
  { name: "serve", summary: "run the marketplace", load: async () => (await import("./commands/serve.ts")).serve },
];

// Whatever an error says, it never says a secret.
async function scrubbed(line: string): Promise<string> {
  const { readMarketConfig, secretsOf } = await import("../config.ts");
  const { createScrub } = await import("../../settlement/daemon/observability/createLogger.ts");
  try {
    return createScrub(secretsOf(readMarketConfig(process.env)))(line);
  } catch {
    // Without a configuration there are no secrets, and its own errors name settings without their values.
    return line;
  }
}

process.exitCode = await runCommand(
  { program: "npm run --silent market --", commands, scrubbed },
  process.argv.slice(2),
);
