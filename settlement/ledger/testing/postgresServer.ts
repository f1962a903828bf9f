import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { migrate } from "../database/migrate.ts";
import { openPostgres } from "../database/postgres/openPostgres.ts";
import { administer, type PostgresServer, startPostgres } from "./startPostgres.ts";

// What is asked for at the door: the server's address, or the same once there is a database to copy.
export const TEMPLATE_DOOR = "/template";
// A database with the ledger's tables and nothing in them. Copying it takes a third of the time of making them again.
export const TEMPLATE = "ledger_template";

declare module "vitest" {
  interface ProvidedContext {
    postgresDoor: string;
  }
}

// One server for the whole test run; every test makes a database of its own in it. It starts when the first test asks for
// its address, so that tests without a database do not wait for it, and only those with one fail if it does not start.
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined;
  let template: Promise<void> | undefined;
  const addressFor = async (path: string | undefined) => {
    server ??= startPostgres({ fsync: false });
    const { url } = await server;
    if (path !== TEMPLATE_DOOR) return url;
    template ??= makeTemplate(url);
    await template;
    return url;
  };
  const door = createServer(async (request, response) => {
    const { status, text } = await addressFor(request.url).then(
      (url) => ({ status: 200, text: url }),
      (error) => ({ status: 500, text: `PostgreSQL does not start: ${error.message}` }),
    );
    // A connection that is kept may be closed from here just as a test asks again.
    response.writeHead(status, { connection: "close" }).end(text);
  });
  await once(door.listen(0, "127.0.0.1"), "listening");
  project.provide("postgresDoor", `http://127.0.0.1:${(door.address() as AddressInfo).port}`);
  return async () => {
    door.close();
    door.closeAllConnections();
    await server?.then(({ stop }) => stop()).catch(() => undefined);
  };
}

// Nobody may be connected to a database that is copied.
async function makeTemplate(server: string): Promise<void> {
  await administer(server, `CREATE DATABASE ${TEMPLATE}`);
  const database = openPostgres({ url: `${server}/${TEMPLATE}` });
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
}
