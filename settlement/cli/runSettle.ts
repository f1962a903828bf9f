// The operator's commands, as programs and tests run them. 0 is in order, 1 is failed or different, 2 is a command line that
// cannot be followed.
import type { Environment } from "../config.ts";
import { type Listed, runCommand } from "./runCommand.ts";

const commands: readonly Listed[] = [
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
    summary: "one tick of settlement by hand, or a look at what it would do",
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
    name: "receipts",
    summary: "export a payer's receipts with their proofs",
    load: async () => (await import("./commands/receipts.ts")).receipts,
  },
  {
    name: "answers",
    summary: "print the answers to contested rows, for any account to send",
    load: async () => (await import("./commands/answers.ts")).answers,
  },
  {
    name: "archive",
    summary: "move what is final and old into files, check them, or bring them back",
    load: async () => (await import("./commands/archive.ts")).archive,
  },
  {
    name: "drain",
    summary: "settle until nothing is pending",
    load: async () => (await import("./commands/drain.ts")).drain,
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

export function runSettle(args: readonly string[], environment: Environment): Promise<number> {
  const scrubbed = (line: string) => scrubbedBy(environment, line);
  return runCommand({ program: "npm run --silent settle --", commands, scrubbed }, args, environment);
}

// Whatever an error says, it never says a secret.
async function scrubbedBy(environment: Environment, line: string): Promise<string> {
  const { readConfig, secretsOf } = await import("../config.ts");
  const { createScrub } = await import("../daemon/observability/createLogger.ts");
  try {
    return createScrub(secretsOf(readConfig(environment)))(line);
  } catch {
    // Without a configuration there are no secrets, and its own errors name settings without their values.
    return line;
  }
}
