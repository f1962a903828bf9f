import { ApiError } from "../../settlement/daemon/http/errors.ts";

// Answers that were made and not read yet. They are in memory for as long, which is as long as whoever asked likes.
export type Deliveries = {
  // Throws if a reader has left so much unread that one more answer may find no room: before anything is done for it.
  admit(reader: string): void;
  // `cut` ends the connection.
  open(reader: string, cut: () => void): Delivery;
  // In bytes, of everybody.
  undelivered(): number;
};

export type Delivery = {
  // So much more is going to be sent. False if there is no room for it; then nothing is taken.
  add(bytes: number): boolean;
  // So much is sent in all, of which some may have been added before.
  ensure(bytes: number): boolean;
  // It was read, or nobody is there any more.
  close(): void;
};

export type DeliveriesOptions = {
  // For everybody, and for one account or address.
  maxBytes: number;
  maxBytesOfReader: number;
  // The most that one answer has.
  maxAnswerBytes: number;
};

type Open = { reader: string; bytes: number; cut: () => void };

// Nobody has more than a share. What all have together has a bound too, beyond which those give way who have left the most unread: strangers
// who read nothing keep nobody from reading. Who is cut off asks again under the same key.
export function createDeliveries({ maxBytes, maxBytesOfReader, maxAnswerBytes }: DeliveriesOptions): Deliveries {
  const open = new Set<Open>();
  const readers = new Map<string, number>();
  let total = 0;

  function change(one: Open, bytes: number): void {
    one.bytes += bytes;
    total += bytes;
    const left = (readers.get(one.reader) ?? 0) + bytes;
    if (left === 0) readers.delete(one.reader);
    else readers.set(one.reader, left);
  }

  function close(one: Open): void {
    if (open.delete(one)) change(one, -one.bytes);
  }

  function makeRoomFor(newest: Open): void {
    while (total > maxBytes) {
      const [most] = [...readers].reduce((one, other) => (other[1] > one[1] ? other : one));
      // The oldest first. Whoever has the most and has just come gives way by itself.
      const oldest = [...open].find(({ reader, bytes }) => reader === most && bytes > 0) ?? newest;
      close(oldest);
      oldest.cut();
    }
  }

  return {
    admit(reader) {
      if ((readers.get(reader) ?? 0) + maxAnswerBytes > maxBytesOfReader) throw unread();
    },
    open(reader, cut) {
      const one: Open = { reader, bytes: 0, cut };
      open.add(one);
      function add(bytes: number): boolean {
        if (!open.has(one) || (readers.get(reader) ?? 0) + bytes > maxBytesOfReader) return false;
        change(one, bytes);
        makeRoomFor(one);
        return open.has(one);
      }
      return { add, ensure: (bytes) => bytes <= one.bytes || add(bytes - one.bytes), close: () => close(one) };
    },
    undelivered: () => total,
  };
}

const RETRY_AFTER_MS = 5_000;

export const unread = () =>
  new ApiError(
    "unavailable",
    "too many answers wait for you to read them; read those, and ask again, under the same Idempotency-Key if there was one",
    { retryAfterMs: RETRY_AFTER_MS },
  );
