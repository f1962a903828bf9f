import { AsyncLocalStorage } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Deliveries, type Delivery, unread } from "./createDeliveries.ts";

// What is smaller is not worth a look: so much is in the buffers of the system.
const LARGE_BYTES = 64 * 1_024;
const PIECE_BYTES = 64 * 1_024;

const deliveries = new WeakMap<FastifyRequest, Delivery>();

// A route that asks another one sends on what that answers, in a frame of its own and perhaps twice.
const onBehalf = new AsyncLocalStorage<Delivery>();
const COPIES = 3;

// Whether a route is asked by another one, which was let in already.
export const isOnBehalf = () => onBehalf.getStore() !== undefined;

export const deliveringFor = <T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> => {
  const delivery = deliveries.get(request);
  return delivery === undefined ? work() : onBehalf.run(delivery, work);
};

// Whether there is room for an answer of so many bytes to a request, which is kept for it. For whoever must know it before the answer is
// charged. It is asked by whoever works on the answer, on whoever's behalf that is done.
export function roomFor(request: FastifyRequest): (bytes: number) => boolean {
  const asker = onBehalf.getStore();
  if (asker !== undefined) return (bytes) => asker.add(COPIES * bytes);
  return (bytes) => deliveries.get(request)?.ensure(bytes) ?? true;
}

// Large answers are counted for whoever is to read them, and go out in pieces, so that it is seen whether they are read. Who takes nothing
// for a while is cut off.
export function boundDeliveries(
  app: FastifyInstance,
  options: { deliveries: Deliveries; stalledMs: number; readerOf: (request: FastifyRequest) => string },
): void {
  const { stalledMs, readerOf } = options;
  app.addHook("preHandler", async (request, reply) => {
    if (isOnBehalf()) return;
    const delivery = options.deliveries.open(readerOf(request), () => reply.raw.destroy());
    deliveries.set(request, delivery);
    reply.raw.once("finish", delivery.close).once("close", delivery.close);
  });
  app.addHook("onSend", async (request, reply, payload) => {
    const delivery = deliveries.get(request);
    if (delivery === undefined) return payload;
    if (typeof payload !== "string" && !Buffer.isBuffer(payload)) {
      if (payload instanceof Readable) cutOffStalled(reply.raw, stalledMs);
      return payload;
    }
    if (payload.length < LARGE_BYTES) return payload;
    const bytes = Buffer.from(payload as string);
    if (!delivery.ensure(bytes.length)) return refuse(reply);
    cutOffStalled(reply.raw, stalledMs);
    reply.header("content-length", bytes.length);
    return Readable.from(piecesOf(bytes), { objectMode: false });
  });
}

function refuse(reply: FastifyReply): string {
  const { status, body, retryAfterMs } = unread();
  reply.code(status).header("retry-after", `${Math.ceil((retryAfterMs ?? 0) / 1_000)}`);
  reply.header("content-type", "application/json; charset=utf-8").removeHeader("idempotency-replayed");
  const text = JSON.stringify(body);
  reply.header("content-length", Buffer.byteLength(text));
  return text;
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) yield bytes.subarray(start, start + PIECE_BYTES);
}

const LOOKS = 5;

// While something waits to be sent, some of it has to go now and then.
function cutOffStalled(response: ServerResponse, stalledMs: number): void {
  const { socket } = response;
  if (socket === null) return;
  let progressMs = performance.now();
  const progressed = () => {
    progressMs = performance.now();
  };
  socket.on("drain", progressed);
  const timer = setInterval(() => {
    if (socket.writableLength === 0) progressed();
    else if (performance.now() - progressMs >= stalledMs) socket.destroy();
  }, stalledMs / LOOKS).unref();
  const end = () => {
    clearInterval(timer);
    socket.off("drain", progressed);
  };
  response.once("close", end);
}
