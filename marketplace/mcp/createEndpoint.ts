import { LRUCache } from "lru-cache";
import { abortable } from "./abortable.ts";
import { type ClientInfo, openSession, type Session } from "./openSession.ts";
import { type Breaker, createBreaker } from "./pacing/createBreaker.ts";
import { createPacer, type Pacer } from "./pacing/createPacer.ts";
import { createRoom, type Room } from "./pacing/createRoom.ts";
import type { Large } from "./transport/createGrowth.ts";
import type { TransportOptions } from "./transport/createHttpTransport.ts";
import { currentExchange, type Exchange } from "./transport/exchange.ts";

// Everything that is remembered of one server.
export type Endpoint = {
  breaker: Breaker;
  pacer(method: string): Pacer;
  // Runs work in the session with the server, which is opened if there is none.
  inSession<T>(exchange: Exchange, work: (session: Session) => Promise<T>): Promise<T>;
  // The next call begins a new session.
  forgetSession(): void;
  close(): Promise<void>;
};

export type EndpointOptions = Omit<TransportOptions, "large"> & {
  info: ClientInfo;
  connectTimeoutMs: number;
  // For the large answers of all servers together.
  room: Room;
};

type Shared = { opening: Promise<Session>; users: number; retired: boolean; close(): Promise<void> };

// The original's number: tokens live for two minutes, and what was opened under one is given up before it expires. Servers
// that restart have forgotten their sessions, so old ones are worth little anyway.
const SESSION_MS = 90_000;
// What one server has us hold in memory at a time.
const MAX_LARGE_ANSWERS = 4;
// As many methods as a server may list.
const MAX_PACERS = 1_000;

export function createEndpoint(options: EndpointOptions): Endpoint {
  const breaker = createBreaker();
  const pacers = new LRUCache<string, Pacer>({ max: MAX_PACERS });
  const ownRoom = createRoom(MAX_LARGE_ANSWERS);
  const sessions = new Set<Shared>();
  let current: Shared | undefined;

  // Its own room first, so that a server with many large answers waits for itself.
  const large: Large = async (signal) => {
    const leaveOwn = await ownRoom.enter(signal);
    const leave = await options.room.enter(signal).catch((error: unknown) => {
      leaveOwn();
      throw error;
    });
    return {
      isWanted: options.room.isWanted,
      leave() {
        leave();
        leaveOwn();
      },
    };
  };

  // All callers share a session: who asks is said by the token of each request, never by the session. It is opened apart
  // from the one who happened to come first, who may go away while others wait.
  function open(token: string | undefined): Shared {
    const closing = new AbortController();
    const signal = AbortSignal.any([AbortSignal.timeout(options.connectTimeoutMs), closing.signal]);
    const exchange: Exchange = { token, requestId: undefined, signal, sent: false };
    const opening = currentExchange.run(exchange, () => openSession({ ...options, large }, options.info));
    const timer = setTimeout(() => retire(shared), SESSION_MS).unref();
    const shared: Shared = {
      opening,
      users: 0,
      retired: false,
      async close() {
        clearTimeout(timer);
        sessions.delete(shared);
        closing.abort();
        await opening.then(
          (session) => session.close(),
          () => undefined,
        );
      },
    };
    opening.catch(() => retire(shared));
    sessions.add(shared);
    return shared;
  }

  function retire(shared: Shared): void {
    if (current === shared) current = undefined;
    shared.retired = true;
    if (shared.users === 0) void shared.close();
  }

  function leave(shared: Shared): void {
    shared.users--;
    if (shared.retired && shared.users === 0) void shared.close();
  }

  // A session whose stream has ended while nobody used it is replaced, so that nobody's call is the one to find out.
  async function enter(exchange: Exchange): Promise<{ shared: Shared; session: Session }> {
    for (let replaced = false; ; replaced = true) {
      current ??= open(exchange.token);
      const shared = current;
      shared.users++;
      try {
        const session = await abortable(shared.opening, exchange.signal);
        if (replaced || !session.isOver()) return { shared, session };
        retire(shared);
      } catch (error) {
        leave(shared);
        throw error;
      }
      leave(shared);
    }
  }

  return {
    breaker,

    pacer(method) {
      const known = pacers.get(method);
      if (known !== undefined) return known;
      const pacer = createPacer();
      pacers.set(method, pacer);
      return pacer;
    },

    async inSession(exchange, work) {
      const { shared, session } = await enter(exchange);
      try {
        return await currentExchange.run(exchange, () => work(session));
      } finally {
        if (session.isOver()) retire(shared);
        leave(shared);
      }
    },

    forgetSession() {
      if (current !== undefined) retire(current);
    },

    async close() {
      await Promise.all([...sessions].map((shared) => shared.close()));
    },
  };
}
