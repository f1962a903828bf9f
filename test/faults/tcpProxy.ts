import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type TcpProxy = {
  port: number;
  // The next connection that says `marker` and then COMMIT is cut after the server has answered, and before the answer is
  // passed on. Resolves when that has happened.
  loseCommitOf(marker: string): Promise<void>;
  stop(): Promise<void>;
};

// How a COMMIT looks between a client and PostgreSQL: its text and the zero byte that ends it.
const COMMIT = Buffer.from("COMMIT\0");

// In front of a PostgreSQL server: it can lose the answer to a commit that the server has made.
export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let armed: { marker: Buffer; done: () => void } | null = null;

  const server = createServer((client) => {
    const upstream = connect(target);
    let marked = false;
    let committing = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (data: Buffer) => {
      if (armed !== null && data.includes(armed.marker)) marked = true;
      if (marked && data.includes(COMMIT)) committing = true;
      upstream.write(data);
    });
    upstream.on("data", (data: Buffer) => {
      if (!committing || armed === null) {
        client.write(data);
        return;
      }
      armed.done();
      armed = null;
      client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    port: (server.address() as AddressInfo).port,
    loseCommitOf: (marker) =>
      new Promise((done) => {
        armed = { marker: Buffer.from(marker), done };
      }),
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
