import type pg from "pg";

// The socket and the server's process behind it, which every client has and the types leave out.
export const wireOf = (client: pg.ClientBase) =>
  client as pg.ClientBase & { connection: pg.Connection; processID: number };
