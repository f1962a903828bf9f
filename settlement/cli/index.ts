// `npm run --silent settle -- <command>`: the operator's command line. 0 is well, 1 is failed or different, 2 is a command
// line that cannot be followed.
import { type ParseArgsConfig, parseArgs } from "node:util";
import { type Command, type Output, UsageError, type Values } from "./command.ts";

// A command is loaded when it is picked, because each brings other parts of the service along.
const commands: readonly { name: string; summary: string; load: () => Promise<Command> }[] = [
  { name: "daemon", summary: "run the service", load: async () => (await import("./commands/daemon.ts")).daemon },
  {
    name: "doctor",
    summary: "check everything that the daemon needs, and say what to do",
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  {
    name: "status",
    summary: "sums by state, queues and whether settlement is halted",
    load: async () => (await import("./commands/status.ts")).status,
  },
  {
    name: "settle",
    summary: "one round of settlement by hand, or a look at what it would do",
    load: async () => (await import("./commands/settle.ts")).settle,
  },
  {
    name: "reconcile",
    summary: "compare the newest batches with the chain's logs, line by line",
    load: async () => (await import("./commands/reconcile.ts")).reconcile,
  },
  {
    name: "audit",
    summary: "recompute everything from the chain's logs and compare it with the ledger",
    load: async () => (await import("./commands/audit.ts")).audit,
  },
  {
    name: "proof",
    summary: "prove a charge against the root on chain",
    load: async () => (await import("./commands/proof.ts")).proof,
  },
  {
    name: "drain",
    summary: "settle until nothing is pending",
    load: async () => (await import("./commands/drain.ts")).drain,
  },
  {
    name: "keys",
    summary: "make, list and revoke the API keys of payers",
    load: async () => (await import("./commands/keys.ts")).keys,
  },
  {
    name: "keystore",
    summary: "make a new operator key in an encrypted file",
    load: async () => (await import("./commands/keystore.ts")).keystore,
  },
  {
    name: "backup",
    summary: "copy the SQLite ledger while the daemon runs",
    load: async () => (await import("./commands/backup.ts")).backup,
  },
];
const PROGRAM = "npm run --silent settle --";
const COMMON: ParseArgsConfig["options"] = { json: { type: "boolean" }, help: { type: "boolean", short: "h" } };

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    (name === undefined ? console.error : console.log)(overview());
    return name === undefined ? 2 : 0;
  }
  const picked = commands.find((candidate) => candidate.name === name);
  if (picked === undefined) {
    console.error(`There is no command "${name}".\n${overview()}`);
    return 2;
  }
  const command = await picked.load();
  try {
    return await run(command, rest);
  } catch (error) {
    if (!(error instanceof UsageError)) {
      console.error(await scrubbed(sentenceOf(error)));
      return 1;
    }
    console.error(`${error.message}\n${usageOf(command)}`);
    return 2;
  }
}

async function run(command: Command, args: readonly string[]): Promise<number> {
  const { values, positionals } = read(command, args);
  if (values.help === true) {
    console.log([usageOf(command), "", ...command.help].join("\n"));
    return 0;
  }
  const json = values.json === true;
  const { min, max } = command.positionals ?? { min: 0, max: 0 };
  if (positionals.length < min || positionals.length > max)
    throw new UsageError(`Write ${`${command.name} ${command.usage}`.trim()}.`);
  const terminal = process.stderr.isTTY && !json;
  const output: Output = {
    say: (line) => {
      if (terminal) process.stderr.write("\r\u001b[K");
      if (!json) console.log(line);
    },
    progress: (text) => {
      if (terminal) process.stderr.write(`\r\u001b[K${text}`);
    },
    environment: process.env,
  };
  const { exitCode, value } = await command.run({ positionals, values, output });
  if (json) console.log(JSON.stringify(value, undefined, 2));
  return exitCode;
}

function read(command: Command, args: readonly string[]): { values: Values; positionals: string[] } {
  try {
    const options = { ...COMMON, ...command.options };
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    return { values: values as Values, positionals };
  } catch (error) {
    // parseArgs says what it does not understand in its first sentence.
    if (error instanceof TypeError) throw new UsageError(`${error.message.split(/\.(?:\s|$)/)[0]}.`);
    throw error;
  }
}

function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2;
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`);
  return [`Usage: ${PROGRAM} <command> [--json] [--help]`, ...list].join("\n");
}

const usageOf = ({ name, usage }: Command) =>
  `Usage: ${[PROGRAM, name, usage].filter(Boolean).join(" ")} [--json] [--help]`;

function sentenceOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const line = message.split("\n")[0] ?? "";
  return `${line[0]?.toUpperCase() ?? ""}${line.slice(1)}${line.endsWith(".") ? "" : "."}`;
}

// Whatever an error says, it never says a secret.
async function scrubbed(line: string): Promise<string> {
  const { readConfig, secretsOf } = await import("../config.ts");
  const { createScrub } = await import("../daemon/createLogger.ts");
  try {
    return createScrub(secretsOf(readConfig(process.env)))(line);
  } catch {
    // Without a configuration there are no secrets, and its own errors name settings without their values.
    return line;
  }
}

process.exitCode = await main(process.argv.slice(2));
