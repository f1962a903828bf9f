import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { type Program, startProgram } from "../../process/startProgram.ts";
import { until } from "../../waiting/until.ts";
import { tell } from "../report.ts";
import { Interrupted, StartError } from "../StartError.ts";

export type Service = {
  url: string;
  // Rejects when it has died too often to be started again.
  failed: Promise<never>;
  // Drains and ends.
  stop(): Promise<void>;
  kill(): void;
};

export type ServiceOptions = {
  name: string;
  // What node runs, with its file of settings.
  program: string;
  command: string;
  settings: string;
  log: string;
  url: string;
  signal: AbortSignal;
};

const DRAIN_MS = 30_000;
const MAX_DEATHS = 5;
const DEATHS_WITHIN_MS = 60_000;
const RESTART_MS = 500;

// A service as an operator runs it: its own process, one file of settings. It is started again when it dies, so that one can
// kill it and watch it go on.
export async function supervise(options: ServiceOptions): Promise<Service> {
  const { name, log, url } = options;
  let program = run(options);
  let stopping = false;
  let reject: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, refuse) => {
    reject = refuse;
  });
  failed.catch(() => undefined);

  await healthy(options, program);
  void watch();

  async function watch(): Promise<void> {
    const deaths: number[] = [];
    while (!stopping) {
      const { code, signal: cause } = await program.ended;
      if (stopping) return;
      deaths.push(Date.now());
      const reason = cause ?? `exit code ${code}`;
      if (deaths.filter((atMs) => Date.now() - atMs < DEATHS_WITHIN_MS).length >= MAX_DEATHS) {
        reject(new StartError(`the ${name} has ended ${MAX_DEATHS} times (${reason}): look into ${log}`));
        return;
      }
      tell(name, `ended (${reason}) and is started again`);
      await pause(RESTART_MS);
      if (!stopping) program = run(options);
    }
  }

  return {
    url,
    failed,
    async stop() {
      stopping = true;
      await program.stop(DRAIN_MS);
    },
    kill() {
      stopping = true;
      void program.kill();
    },
  };
}

function run({ program, command, settings, log }: ServiceOptions): Program {
  const { PATH, HOME } = process.env;
  return startProgram(process.execPath, [`--env-file=${settings}`, program, command], {
    // Nothing of the settings that may be in this environment belongs here.
    env: { PATH, HOME },
    output: { file: log },
  });
}

async function healthy({ name, url, log, signal }: ServiceOptions, program: Program): Promise<void> {
  const over = new AbortController();
  const listens = until(`the ${name} to answer`, () => answers(url), {
    signal: AbortSignal.any([signal, over.signal]),
  });
  try {
    const first = await Promise.race([listens, program.ended]);
    if (first === true) return;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    over.abort();
    listens.catch(() => undefined);
  }
  await program.kill();
  if (signal.aborted) throw new Interrupted();
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  throw new StartError(`the ${name} did not start; look into ${log}, which ends with: ${lines.at(-1)}`);
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(`${url}/health`);
  await response.body?.cancel();
  return response.ok;
}
