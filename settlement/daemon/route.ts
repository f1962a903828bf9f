import type { FastifyBaseLogger } from "fastify";
import type { z } from "zod";
import type { Clock } from "../clock.ts";
import type { ApiKey } from "../domain/apiKey.ts";
import type { Engine } from "../engine/createEngine.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Auditor } from "./auditor.ts";
import type { Readings } from "./createReadings.ts";
import type { ApiCode } from "./errors.ts";
import type { Readiness } from "./readiness.ts";

// Who asks. A payer sees its own data only; the platform sees everybody's, and so does who is logged in to the console,
// but only by reading. Anybody else sees sums and what is on chain anyway.
export type Caller = { kind: "payer"; apiKey: ApiKey } | { kind: "platform" | "console" | "anybody" };

// What handlers work with.
export type Services = {
  engine: Engine;
  ledger: Ledger;
  clock: Clock;
  readings: Readings;
  readiness: Readiness;
  auditor: Auditor;
  helpUrl: string | null;
  sessionTtlMs: number;
};

export type Asked<P, Q, B> = {
  params: P;
  query: Q;
  body: B;
  caller: Caller;
  // Names what a request makes: the same for every repetition under one Idempotency-Key, and otherwise new.
  newId: () => string;
  log: FastifyBaseLogger;
  services: Services;
};

// `stored` is what a repetition of the request is answered, where that is not what was sent the first time.
export type Answered = {
  status?: number;
  body: unknown;
  stored?: unknown;
  headers?: Readonly<Record<string, string>>;
  // A text other than JSON.
  contentType?: string;
};

// `public` needs no secret while there is a console, and is `platform` otherwise.
export type Access = "payer" | "platform" | "public";

export type Route = {
  method: "GET" | "POST";
  path: string;
  access: Access;
  summary: string;
  params?: z.ZodType;
  query?: z.ZodType;
  body?: z.ZodType;
  // The protocol has a code of its own for some fields that are wrong.
  fieldCodes?: Readonly<Record<string, ApiCode>>;
  handle: (asked: Asked<never, never, never>) => Promise<Answered>;
};

type Output<S> = S extends z.ZodType ? z.output<S> : Record<string, never>;

// Keeps what a handler is given in step with what its route asks for.
export function route<
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(definition: {
  method: Route["method"];
  path: string;
  access: Access;
  summary: string;
  params?: P;
  query?: Q;
  body?: B;
  fieldCodes?: Readonly<Record<string, ApiCode>>;
  handle: (asked: Asked<Output<P>, Output<Q>, Output<B>>) => Promise<Answered>;
}): Route {
  return definition as unknown as Route;
}
