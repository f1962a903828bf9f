import { AsyncLocalStorage } from "node:async_hooks";
import type { Socket } from "node:net";
import type { FastifyRequest } from "fastify";

// A route that asks another one has no connection to show for it. It brings the signal of whoever asked along.
const onBehalf = new AsyncLocalStorage<AbortSignal>();

// One listener for each connection, on which any number of requests may be under way.
const leaving = new WeakMap<Socket, Set<() => void>>();

function onClose(socket: Socket, leave: () => void): () => void {
  const all = leaving.get(socket) ?? new Set();
  if (!leaving.has(socket)) {
    leaving.set(socket, all);
    socket.once("close", () => {
      for (const each of all) each();
    });
  }
  all.add(leave);
  return () => void all.delete(leave);
}

// Runs work with a signal that says when whoever asked has gone: when the connection ends before the answer. Routes that are
// asked in the course of it hear of it too.
export async function untilGone<T>(request: FastifyRequest, work: (gone: AbortSignal) => Promise<T>): Promise<T> {
  const { socket } = request.raw;
  const asker = onBehalf.getStore();
  const going = new AbortController();
  const leave = () => going.abort();
  if (socket.destroyed || asker?.aborted) leave();
  const stay = onClose(socket, leave);
  asker?.addEventListener("abort", leave);
  try {
    return await onBehalf.run(going.signal, () => work(going.signal));
  } finally {
    stay();
    asker?.removeEventListener("abort", leave);
  }
}
