import type { Results } from "./chapter.ts";
import { chapters } from "./chapters/index.ts";

// docs/benchmarks.md.
export function page(results: Results): string {
  const names = chapters.map(({ name }) => name);
  return `# Benchmarks

This page and its charts are written by \`npm run bench\`, which takes about a quarter of an hour on a quiet machine. Do not edit it: a test compares it with [the results](benchmarks.json).

\`\`\`sh
npm run bench                            # everything, and this page
npm run --silent bench -- gas            # one of them, as a table: ${names.slice(0, -1).join(", ")} or ${names.at(-1)}
npm run --silent bench -- gas --json     # one JSON object on stdout
npm run --silent bench -- gas --write    # its part of this page
\`\`\`

Gas is exact: accounts and amounts are fixed, and every run on every machine gives the same numbers. Rates depend on the machine, its disk and whatever else runs; run the command for yours. Ratios are of two things that were measured in turns in one run.
${chapters.map(chapterOf(results)).join("")}`;
}

const chapterOf =
  (results: Results) =>
  ({ name, command, text }: (typeof chapters)[number]) => {
    const result = results[name];
    if (result === undefined) return "";
    const { date, commit, machine, measured } = result;
    const [title, ...rest] = text(measured).split("\n");
    return `
${title}

\`npm run --silent bench -- ${command}\`, measured on ${date} at ${commit}: ${machine.cores} cores, ${machine.processor}, ${machine.memoryGib} GiB, ${machine.system}, Node ${machine.node}.
${rest.join("\n")}
`;
  };
