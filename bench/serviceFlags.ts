import { readFileSync } from "node:fs";

// The flags with which `npm run settle` starts the service, so that benchmarks measure what runs in production.
export const SERVICE_FLAGS: readonly string[] = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { scripts: { settle: string } }
).scripts.settle
  .split(" ")
  .filter((word) => word.startsWith("--"));
