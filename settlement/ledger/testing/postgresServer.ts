import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { type PostgresServer, startPostgres } from "./startPostgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresDoor: string;
  }
}

// One server for the whole test run; every test makes a database of its own in it. It starts when the first test asks for
// its address, so that tests without a database do not wait for it, and only those with one fail if it does not start.
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined;
  const door = createServer(async (_request, response) => {
    server ??= startPostgres({ fsync: false });
    const { status, text } = await server.then(
      ({ url }) => ({ status: 200, text: url }),
      (error) => ({ status: 500, text: `PostgreSQL does not start: ${error.message}` }),
    );
    response.writeHead(status).end(text);
  });
  await once(door.listen(0, "127.0.0.1"), "listening");
  project.provide("postgresDoor", `http://127.0.0.1:${(door.address() as AddressInfo).port}`);
  return async () => {
    door.close();
    door.closeAllConnections();
    await server?.then(({ stop }) => stop()).catch(() => undefined);
  };
}
