import type { TestProject } from "vitest/node";
import { startPostgres } from "./startPostgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

// One server for the whole test run; every test makes a database of its own in it.
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await startPostgres({ fsync: false });
  project.provide("postgresUrl", url);
  return stop;
}
