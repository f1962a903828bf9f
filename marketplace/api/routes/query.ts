import { Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { type ApiCode, ApiError, PAYER_REFUSALS } from "../../../settlement/daemon/http/errors.ts";
import { sentenceOf } from "../../../settlement/domain/text/sentence.ts";
import { roomFor } from "../../delivery/boundDeliveries.ts";
import { unread } from "../../delivery/createDeliveries.ts";
import { type Attached, HELD_OPEN_MS, type Jobs, type StartOptions, sessionOf } from "../../query/jobs/createJobs.ts";
import type { Job } from "../../query/jobs/jobs.ts";
import { DATA_PATH, IMAGES_PATH } from "../../query/openQuery.ts";
import {
  jobSchema,
  jobView,
  listedSchema,
  listedView,
  resultOf,
  startedSchema,
  startedView,
} from "../../query/wire/job.ts";
import { type QueryRequest, queryBody, requestOf } from "../../query/wire/request.ts";
import { resultSchema } from "../../query/wire/result.ts";
import { settlementSchema, settlementView } from "../../query/wire/settlement.ts";
import { drawing } from "../drawing.ts";
import { idempotencyKeyOf } from "../idempotencyKeyOf.ts";
import { accountOf, route, type Services } from "../route.ts";
import { type Emit, streamEvents } from "../streamEvents.ts";
import { untilGone } from "../untilGone.ts";

const QUERY = "/api/v1/query";
const JOBS = `${QUERY}/jobs`;
const REPLAYED = { "idempotency-replayed": "true" };
const EVENTS = "text/event-stream";
const JSON_TYPE = "application/json; charset=utf-8";
// As long as a run may take, and what comes before and after it.
const RUN_MS = 1_900_000;
// Nothing between the two ends may hold events back.
const UNBUFFERED = { "x-accel-buffering": "no" };

const errors: readonly ApiCode[] = ["not_found", "no_wallet", ...PAYER_REFUSALS, "conflict", "idempotency_conflict"];

const params = z.object({ id: z.string() });
const UUID = z.guid();
// Whoever cannot wait says so; the SDKs never do.
const MAX_WAIT_SECONDS = HELD_OPEN_MS / 1_000;
const waitSeconds = z.coerce.number().min(0).max(MAX_WAIT_SECONDS).catch(MAX_WAIT_SECONDS);
const MAX_LISTED = 100;
const DEFAULT_LISTED = 20;
// Out of range is the nearest that is in it.
const limit = z.coerce
  .number()
  .catch(DEFAULT_LISTED)
  .transform((wanted) => Math.min(MAX_LISTED, Math.max(1, Math.trunc(wanted) || DEFAULT_LISTED)))
  .optional()
  .meta({ description: `how many, ${DEFAULT_LISTED} if left out and ${MAX_LISTED} at the most` });
const PNG = "image/png";
const IMAGE = /^([0-9a-f]{64})\.png$/;
const DATASET = /^[A-Za-z0-9_-]{32}$/;

export const queryRoutes = [
  route({
    method: "POST",
    path: JOBS,
    access: "account",
    paced: "questions",
    summary: "Ask a question; the answer is had from the job. Under one Idempotency-Key it is asked once",
    body: queryBody,
    answer: startedSchema,
    status: 202,
    errors,
    async handle({ body, caller, request, services, log }) {
      const { query } = services;
      const account = accountOf(caller);
      const key = idempotencyKeyOf(request.headers["idempotency-key"]);
      const { job, replayed } = await starting(services, requestOf(body), { account, key })();
      if (!replayed) log.info({ event: "question_taken", job: job.id, account }, "question taken");
      return { body: startedView(job, query.jobs.progressOf(job.id)), headers: replayed ? REPLAYED : {} };
    },
  }),
  route({
    method: "GET",
    path: JOBS,
    access: "account",
    paced: "questions",
    summary: "The newest questions of the account, asked in whatever way; each answer is had from its job",
    query: z.object({ limit }),
    answer: listedSchema,
    errors: [],
    async handle({ query: { limit: wanted }, caller, services: { query } }) {
      return { body: listedView(await query.jobs.list(accountOf(caller), wanted ?? DEFAULT_LISTED)) };
    },
  }),
  route({
    method: "GET",
    path: `${JOBS}/:id`,
    access: "account",
    paced: "questions",
    summary: "A job; the request is held open until the job has ended, for 25 seconds or waitSeconds at the most",
    params,
    query: z.object({ waitSeconds }),
    answer: jobSchema,
    errors: ["not_found"],
    async handle({ params: { id }, query: { waitSeconds }, caller, request, services: { query } }) {
      const account = accountOf(caller);
      const known = UUID.safeParse(id).success;
      const heldOpenMs = waitSeconds * 1_000;
      const job = known
        ? await untilGone(request, (gone) => query.jobs.wait(account, id.toLowerCase(), { gone, heldOpenMs }))
        : null;
      if (job === null) throw new ApiError("not_found", "there is no such job");
      return { body: jobView(job, query.jobs.progressOf(job.id)) };
    },
  }),
  route({
    method: "GET",
    path: `${JOBS}/:id/settlement`,
    access: "account",
    paced: "questions",
    summary: "How far what a job costs has come on its way to the chain",
    params,
    answer: settlementSchema,
    errors: ["not_found"],
    async handle({ params: { id }, caller, services: { query } }) {
      const jobId = id.toLowerCase();
      const job = UUID.safeParse(id).success ? await query.jobs.find(accountOf(caller), jobId) : null;
      if (job === null) throw new ApiError("not_found", "there is no such job");
      return { body: settlementView(jobId, await query.chargesOf(jobId)) };
    },
  }),
  route({
    method: "POST",
    path: QUERY,
    access: "account",
    paced: "questions",
    summary:
      "Ask a question and wait for the answer: as events if stream is true, else as JSON. Leaving ends it. The header " +
      "x-context-job-id names the job, which has the answer for whoever has lost it",
    body: queryBody,
    answer: resultSchema.extend({ success: z.literal(true) }),
    textTypes: [EVENTS],
    answerTimeoutMs: RUN_MS,
    errors: [...errors, "query_failed"],
    async handle({ body, caller, request, services }) {
      const { jobs } = services.query;
      const asked = requestOf(body);
      const account = accountOf(caller);
      const key = idempotencyKeyOf(request.headers["idempotency-key"]);
      // A run that takes minutes says nothing on its connection meanwhile.
      request.raw.socket.setTimeout?.(RUN_MS);
      const start = starting(services, asked, { account, key });
      const room = roomOf(request);
      if (body.stream !== true) {
        const job = await untilGone(request, (gone) => follow(jobs, start, gone, room));
        const result = resultOf(job);
        if (result === null && room.isFull()) throw unread();
        if (result === null) throw new ApiError("query_failed", job.error ?? "the question was not answered");
        return { text: JSON.stringify({ success: true, ...result }), contentType: JSON_TYPE, headers: named(job) };
      }
      const { job, events } = await streamOf(jobs, start, asked, room);
      return { text: events, contentType: EVENTS, headers: { ...UNBUFFERED, ...named(job) } };
    },
  }),
  route({
    method: "GET",
    path: `${DATA_PATH}/:id`,
    access: "anybody",
    summary: "All that the tools of a turn have answered, for a week, to whoever knows the address",
    params,
    answer: z.looseObject({ outputs: z.array(z.unknown()) }),
    errors: ["not_found"],
    async handle({ params: { id }, services: { query } }) {
      const data = DATASET.test(id) ? await query.findData(id) : null;
      if (data === null) throw new ApiError("not_found", "there is no such data, or it is not kept any more");
      return { text: data.body, contentType: JSON_TYPE, headers: { etag: `"${data.hash}"` } };
    },
  }),
  route({
    method: "GET",
    path: `${IMAGES_PATH}/:name`,
    access: "anybody",
    summary: "An image of an answer, by the hash of its bytes, for a week",
    params: z.object({ name: z.string() }),
    answer: z.unknown(),
    textTypes: [PNG],
    errors: ["not_found"],
    async handle({ params: { name }, services: { query } }) {
      const [, hash = null] = IMAGE.exec(name) ?? [];
      const png = hash === null ? null : await query.findImage(hash);
      if (png === null) throw new ApiError("not_found", "there is no such image, or it is not kept any more");
      // Drawn by code that nobody has read: it is shown as a picture and as nothing else.
      const headers = {
        etag: `"${hash}"`,
        "content-security-policy": "default-src 'none'; sandbox",
        "x-content-type-options": "nosniff",
      };
      return { text: Readable.from([png]), contentType: PNG, headers };
    },
  }),
];

const NOBODY = () => undefined;
const named = ({ id }: Job) => ({ "x-context-job-id": id });

// An answer goes out with a frame around it, and in a stream its text goes out twice.
const FRAME_BYTES = 1_024;
const COPIES = 2;

type Room = { hasRoom: Attached["hasRoom"]; isFull: () => boolean };

function roomOf(request: FastifyRequest): Room {
  const room = roomFor(request);
  let isFull = false;
  return {
    hasRoom: (bytes) => {
      isFull = !room(COPIES * bytes + FRAME_BYTES);
      return !isFull;
    },
    isFull: () => isFull,
  };
}

type Start = (attached?: Attached) => ReturnType<Jobs["start"]>;

// Takes a question, with what was signed for it or what its account has signed before.
const starting =
  (services: Services, asked: QueryRequest, { account, key }: Omit<StartOptions, "attached">): Start =>
  (attached) =>
    drawing(services, account, asked.signed, (signed) =>
      services.query.jobs.start({ ...asked, signed }, { account, key, ...(attached && { attached }) }),
    );

// Waits for the end of a job, which ends with whoever waits for it.
async function follow(jobs: Jobs, start: Start, gone: AbortSignal, { hasRoom }: Room): Promise<Job> {
  const { job } = await start({ gone, say: NOBODY, hasRoom });
  return ended(jobs, job, gone);
}

async function ended(jobs: Jobs, { account, id }: Job, gone: AbortSignal): Promise<Job> {
  for (;;) {
    const job = await jobs.wait(account, id, { gone });
    if (job === null) throw new ApiError("not_found", "there is no such job");
    if (job.status === "completed" || job.status === "failed") return job;
    if (jobs.isStopping()) throw new ApiError("unavailable", "the marketplace is about to stop; ask again in a moment");
    if (gone.aborted) throw new ApiError("query_failed", "whoever asked went away");
  }
}

// What can be refused is refused before there is a stream, as any other request.
async function streamOf(jobs: Jobs, start: Start, { responseShape }: QueryRequest, { hasRoom }: Room) {
  const waiting: Parameters<Emit>[0][] = [];
  let emit: Emit = (event) => void waiting.push(event);
  const going = new AbortController();
  const say = (status: string, tool = { id: "", name: "" }) => emit({ type: "tool-status", status, tool });
  const { job } = await start({ gone: going.signal, say, hasRoom });
  const events = streamEvents(async (write, gone) => {
    gone.addEventListener("abort", () => going.abort(), { once: true });
    for (const event of waiting.splice(0)) write(event);
    emit = write;
    try {
      const last = await ended(jobs, job, gone);
      const result = resultOf(last);
      // Nothing is lost: it is kept under its job, and under its key.
      if (last.result !== null && !hasRoom(Buffer.byteLength(last.result))) throw unread();
      if (result === null) {
        write(failureOf(last, last.error ?? "The question was not answered."));
        return;
      }
      if (responseShape !== "evidence_only") {
        for (const delta of deltasOf(result.response)) write({ type: "text-delta", delta });
      }
      write({ type: "done", result });
    } catch (error) {
      const message = error instanceof ApiError ? error.message : "something went wrong here";
      write(failureOf(job, sentenceOf(message)));
    }
  });
  return { job, events };
}

// With the attempt, so that whoever asked can go on from it.
const failureOf = (job: Job, error: string) => ({
  type: "error",
  error,
  code: "query_failed",
  scope: "query",
  reasonCode: "execution_failed",
  querySession: sessionOf(job, "failed"),
});

const DELTA_LENGTH = 400;

// The deltas together are the response. No character is cut in two.
function deltasOf(text: string): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${DELTA_LENGTH}}`, "gu")) ?? [];
}
