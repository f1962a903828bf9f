import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type TcpProxy = {
  port: number;
  // The next connection that says `marker` and then COMMIT is cut after the server has answered, and before the answer is
  // passed on. Resolves when that has happened.
  loseCommitOf(marker: string): Promise<void>;
  // From now on nothing passes, in either direction, and nobody is told. Old connections stay silent when it is over.
  swallow(on: boolean): void;
  // Connections are cut, and the next ones reach another server, as when an address moves to it.
  moveTo(target: Target): void;
  // How many connections there have been, and how many of the silent ones their clients have given up.
  connections(): number;
  givenUp(): number;
  stop(): Promise<void>;
};

type Target = { host: string; port: number };

// How a COMMIT looks between a client and PostgreSQL: its text and the zero byte that ends it.
const COMMIT = Buffer.from("COMMIT\0");

// In front of a PostgreSQL server: it can lose the answer to a commit that the server has made, or swallow everything.
export async function startTcpProxy(first: Target): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const silences = new Set<() => void>();
  let target = first;
  let isSwallowing = false;
  let connections = 0;
  let givenUp = 0;
  let armed: { marker: Buffer; done: () => void } | null = null;

  const server = createServer((client) => {
    const upstream = connect(target);
    let marked = false;
    let committing = false;
    let isSilent = isSwallowing;
    connections += 1;
    silences.add(() => {
      isSilent = true;
    });
    client.on("close", () => {
      if (isSilent) givenUp += 1;
    });
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
      if (isSilent) return;
      if (armed !== null && data.includes(armed.marker)) marked = true;
      if (marked && data.includes(COMMIT)) committing = true;
      upstream.write(data);
    });
    upstream.on("data", (data: Buffer) => {
      if (isSilent) return;
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
    swallow(on) {
      isSwallowing = on;
      if (on) for (const silence of silences) silence();
    },
    moveTo(next) {
      target = next;
      for (const socket of sockets) socket.destroy();
    },
    connections: () => connections,
    givenUp: () => givenUp,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
