// `node test/run/index.ts [GROUP] [FILTERS]` runs every check of the repository, as `npm test` does, or those of one group.
// Its last lines name every check and every test that failed.
import { availableParallelism } from "node:os";
import { signalPrograms } from "../../scripts/process/startProgram.ts";
import { withUsage } from "../../settlement/cli/readArguments.ts";
import { GROUPS } from "./check.ts";
import { checksOf } from "./checks.ts";
import { readGroup } from "./readGroup.ts";
import { type Result, runChecks } from "./runChecks.ts";

const USAGE = `Usage: node test/run/index.ts [${GROUPS.join(" | ")}] [files of service tests]`;

const { group, filters } = await withUsage(USAGE, () => readGroup(process.argv.slice(2)));

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    signalPrograms(signal);
    process.exit(1);
  });
}

const checks = checksOf(filters).filter(({ groups }) => group === null || groups.includes(group));
report(await runChecks(checks, availableParallelism(), (text) => void process.stdout.write(text)));

function report(results: readonly Result[]): void {
  console.log("");
  for (const { name, passed, failures, seconds } of results) {
    const failed = failures.length > 0 ? `${failures.length} failed, ` : "";
    console.log(`${failed ? "✗" : "✓"} ${name}: ${failed}${passed} passed (${seconds} s)`);
  }
  const failed = results.filter(({ failures }) => failures.length > 0);
  for (const { name, failures } of failed) {
    console.log(`\n✗ ${name}`);
    for (const failure of failures) console.log(`  ${failure}`);
  }
  const passes = results.reduce((sum, { passed }) => sum + passed, 0);
  const fails = failed.reduce((sum, { failures }) => sum + failures.length, 0);
  console.log(`\n${passes} passed, ${fails} failed`);
  process.exitCode = fails > 0 ? 1 : 0;
}
