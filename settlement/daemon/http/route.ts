import type { Readable } from "node:stream";
import type { FastifyBaseLogger, FastifyRequest } from "fastify";
import type { z } from "zod";
import type { Clock } from "../../clock.ts";
import type { Engine } from "../../engine/createEngine.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Auditor } from "../observability/auditor.ts";
import type { Readiness } from "../observability/readiness.ts";
import type { CachedReads } from "../observability/reads/createCachedReads.ts";
import type { ApiCode } from "./errors.ts";

// Who asks. The platform sees everybody's data, and so does who is logged in to the console, but only by reading. Anybody
// else sees sums and what is on chain anyway.
export type Caller = { kind: "platform" | "console" | "anybody" };

// What handlers work with.
export type Services = {
  engine: Engine;
  ledger: Ledger;
  clock: Clock;
  cachedReads: CachedReads;
  readiness: Readiness;
  auditor: Auditor;
  helpUrl: string | null;
  sessionTtlMs: number;
};

export type Asked<P, Q, B, C = Caller, S = Services> = {
  params: P;
  query: Q;
  body: B;
  caller: C;
  // Names what a request makes: the same for every repetition under one Idempotency-Key, and otherwise new.
  newId: () => string;
  // For what no schema describes: headers, and when whoever asked has gone.
  request: FastifyRequest;
  log: FastifyBaseLogger;
  services: S;
};

export type Answered<T = unknown> = {
  body: T;
  headers?: Readonly<Record<string, string>>;
  // A part of it was refused, and may not be when it is asked again: it is not kept under its Idempotency-Key.
  mayChange?: boolean;
};

// A text other than JSON, whole or as it comes.
export type AnsweredText = {
  text: string | Readable;
  contentType: string;
  headers?: Readonly<Record<string, string>>;
  // Where it is not what the route says.
  status?: number;
};

// `public` needs no secret while there is a console, and is `platform` otherwise.
export type Access = "platform" | "public";

// Who may ask and what a handler works with are the process's own; the rest of a route is the same everywhere.
export type Route<C = Caller, S = Services, A extends string = Access> = {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  access: A;
  summary: string;
  params?: z.ZodType;
  query?: z.ZodType;
  body?: z.ZodType;
  // A body for the page on which requests are tried, where not everything that may come should.
  example?: object;
  // Where it is more than every other route takes.
  maxBodyBytes?: number;
  // Where it may take longer than every other route.
  answerTimeoutMs?: number;
  // Whoever asks faster than it may waits a little before it is refused. Each kind has a bucket of its own.
  paced?: "calls" | "questions" | "messages";
  // A write that a login to the console may make. Otherwise a login only reads.
  console?: true;
  // The protocol has a code of its own for some fields that are wrong.
  fieldCodes?: Readonly<Record<string, ApiCode>>;
  // What it answers when nothing is wrong, with status 200 unless it says otherwise.
  answer: z.ZodType;
  status?: 200 | 201 | 202;
  // The texts that it answers instead of JSON when asked to.
  textTypes?: readonly string[];
  // Its own reasons to answer otherwise, beside those that every route has.
  errors?: readonly ApiCode[];
  handle: (asked: Asked<never, never, never, C, S>) => Promise<Answered | AnsweredText>;
};

type Output<S> = S extends z.ZodType ? z.output<S> : Record<string, never>;

// Keeps what a handler is given and gives back in step with what its route says.
export const routeFor =
  <C, S, A extends string>() =>
  <
    P extends z.ZodType | undefined = undefined,
    Q extends z.ZodType | undefined = undefined,
    B extends z.ZodType | undefined = undefined,
    Answer extends z.ZodType = z.ZodType,
  >(
    definition: Omit<Route<C, S, A>, "params" | "query" | "body" | "answer" | "handle"> & {
      params?: P;
      query?: Q;
      body?: B;
      answer: Answer;
      handle: (
        asked: Asked<Output<P>, Output<Q>, Output<B>, C, S>,
      ) => Promise<Answered<z.output<Answer>> | AnsweredText>;
    },
  ): Route<C, S, A> =>
    definition as unknown as Route<C, S, A>;

export const route = routeFor<Caller, Services, Access>();
