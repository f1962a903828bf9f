import { z } from "zod";
import * as shape from "../../../settlement/views/shapes.ts";
import { type ListedJob, type Progress, sessionOf } from "../jobs/createJobs.ts";
import type { Job } from "../jobs/jobs.ts";
import { type QueryResult, querySessionSchema, resultSchema } from "./result.ts";

const progressSchema = z.object({ stage: z.string(), toolCalls: z.int(), updatedAt: shape.time }).nullable();

export const startedSchema = z.object({
  status: z.enum(["queued", "running", "completed", "failed"]),
  jobId: z.guid(),
  pollingTool: z.literal("context_query_poll"),
  message: z.string(),
  progress: progressSchema,
  querySession: querySessionSchema.nullable(),
  createdAt: shape.time,
  updatedAt: shape.time,
});

export const jobSchema = z
  .object({
    status: z.enum(["queued", "running", "completed", "failed"]),
    jobId: z.guid(),
    progress: progressSchema,
    querySession: querySessionSchema.nullable(),
    result: resultSchema.nullable(),
    error: z.string().nullable(),
    createdAt: shape.time,
    updatedAt: shape.time,
    completedAt: shape.time.nullable(),
  })
  .meta({ id: "QueryJob" });

export const listedSchema = z.object({
  jobs: z.array(
    z.object({
      status: z.enum(["queued", "running", "completed", "failed"]),
      jobId: z.guid(),
      // Null once it is not kept any more.
      query: z.string().nullable(),
      error: z.string().nullable(),
      createdAt: shape.time,
      updatedAt: shape.time,
      completedAt: shape.time.nullable(),
    }),
  ),
});

export const listedView = (jobs: readonly ListedJob[]): z.infer<typeof listedSchema> => ({
  jobs: jobs.map(({ id, status, query, error, createdAtMs, updatedAtMs, completedAtMs }) => ({
    status,
    jobId: id,
    query,
    error,
    createdAt: shape.timeOf(createdAtMs),
    updatedAt: shape.timeOf(updatedAtMs),
    completedAt: shape.timeOrNull(completedAtMs),
  })),
});

const STATUS_OF_SESSION = { queued: "active", running: "active", completed: "completed", failed: "failed" } as const;

export const startedView = (job: Job, progress: Progress | null): z.infer<typeof startedSchema> => ({
  status: job.status,
  jobId: job.id,
  pollingTool: "context_query_poll",
  message: "The question was taken; ask for the job until it has ended.",
  progress,
  querySession: sessionOf(job, STATUS_OF_SESSION[job.status]),
  createdAt: shape.timeOf(job.createdAtMs),
  updatedAt: shape.timeOf(job.updatedAtMs),
});

export const jobView = (job: Job, progress: Progress | null): z.infer<typeof jobSchema> => ({
  status: job.status,
  jobId: job.id,
  progress,
  querySession: sessionOf(job, STATUS_OF_SESSION[job.status]),
  result: resultOf(job),
  error: job.error,
  createdAt: shape.timeOf(job.createdAtMs),
  updatedAt: shape.timeOf(job.updatedAtMs),
  completedAt: shape.timeOrNull(job.completedAtMs),
});

export const resultOf = ({ result }: Job): QueryResult | null =>
  result === null ? null : (JSON.parse(result) as QueryResult);
