import type { Reply } from "../../../scripts/client/createClient.ts";
import { type End, startProgram } from "../../../scripts/process/startProgram.ts";
import { until } from "../../../scripts/waiting/until.ts";
import type { Environment } from "../../../settlement/config.ts";
import { askOf } from "../../local/daemon/testDaemon.ts";
import type { Command, Plan, Told } from "./daemonProcess.ts";

export type LogLine = { event?: string; alert?: string; msg: string } & Record<string, unknown>;

export type DaemonProcess = {
  // What it has logged so far, and what it said on standard error.
  lines: LogLine[];
  complaint(): string;
  events(event: string): LogLine[];
  // The messages of its alerts of a kind.
  alerts(kind: string): string[];
  // Waits until it listens.
  listening(): Promise<void>;
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  // SIGKILL: without any clean-up.
  kill(): Promise<End>;
  // SIGTERM: it drains.
  stop(): Promise<End>;
  freeze(): void;
  wake(): void;
  tell(command: Command): void;
  hear<T extends Told>(is: (told: Told) => told is T): Promise<T>;
  // Waits until it has ended by itself.
  ended(): Promise<End>;
};

export type StartProcessOptions = {
  environment: Environment;
  plan?: Plan;
  // The operator's own command, without anything exchanged.
  asCommand?: boolean;
  // The largest file that it may write, in KiB: whatever would make one larger fails as on a full disk.
  maxFileKiB?: number;
};

const NODE = "node_modules/.bin/node";

export function startDaemonProcess(options: StartProcessOptions): DaemonProcess {
  const { environment, plan = {}, asCommand = false, maxFileKiB } = options;
  const args = asCommand
    ? ["settlement/cli/index.ts", "daemon"]
    : ["test/faults/daemon/daemonProcess.ts", JSON.stringify(plan)];
  // Node ignores the signal that would come with the refused write, so that the write fails with an error.
  const [file, all] =
    maxFileKiB === undefined
      ? [NODE, args]
      : ["bash", ["-c", `ulimit -S -f ${maxFileKiB}; exec "$0" "$@"`, NODE, ...args]];
  const { PATH } = process.env;
  const program = startProgram(file, all, { env: { PATH, ...environment }, messages: !asCommand });

  const lines: LogLine[] = [];
  let rest = "";
  let end: End | undefined;
  const heard: Told[] = [];
  program.child.stdout?.on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) lines.push(JSON.parse(part) as LogLine);
  });
  program.child.on("message", (told: Told) => void heard.push(told));
  const ended = program.ended.then(({ code, signal }) => {
    end = { code, signal };
    return end;
  });

  const urlOf = () => lines.find(({ event }) => event === "started")?.url as string | undefined;
  return {
    lines,
    complaint: program.stderr,
    events: (event) => lines.filter((line) => line.event === event),
    alerts: (kind) => lines.filter(({ event, alert }) => event === "alert" && alert === kind).map(({ msg }) => msg),
    async listening() {
      await until("the daemon to listen", () => end !== undefined || urlOf() !== undefined);
      if (end !== undefined && urlOf() === undefined) throw new Error(`the daemon ended at once: ${program.stderr()}`);
    },
    ask(method, path, body) {
      const url = urlOf();
      if (url === undefined) throw new Error("the daemon does not listen yet");
      return askOf(url)(method, path, body);
    },
    kill() {
      void program.kill();
      return ended;
    },
    stop() {
      void program.stop();
      return ended;
    },
    freeze: () => program.signal("SIGSTOP"),
    wake: () => program.signal("SIGCONT"),
    tell: (command) => void program.child.send(command),
    hear: (is) => until("word from the daemon", () => heard.find(is)),
    ended: () => until("the daemon to end", () => end),
  };
}
