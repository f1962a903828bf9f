import { formatUsd } from "../../domain/money.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Command } from "../command.ts";
import { UsageError, wholeNumber } from "../readArguments.ts";
import { withEngine } from "../withEngine.ts";

const PAGE = 100;

export const archive: Command = {
  name: "archive",
  usage: "[--list] [--verify] [--restore <n>]",
  help: [
    "Moves what has been final for SETTLEMENT_ARCHIVE_DAYS out of the ledger into files in SETTLEMENT_ARCHIVE, while the daemon runs;",
    "it may be stopped at any moment, and the next run goes on. proof, statements and repeated deliveries still find it there.",
    "With --list it shows the files, with --verify it reads every one of them again and ends with 1 if one is not what was",
    "written. With --restore it brings one back; raise SETTLEMENT_ARCHIVE_DAYS first, or the daemon archives it again.",
  ],
  options: { list: { type: "boolean" }, verify: { type: "boolean" }, restore: { type: "string" } },
  run: ({ values, output }) => {
    const asked = [values.list, values.verify, values.restore].filter((value) => value !== undefined);
    if (asked.length > 1) throw new UsageError("name one of --list, --verify and --restore");
    const number = values.restore === undefined ? null : wholeNumber("--restore", String(values.restore));
    return withEngine(output, { keys: false }, async ({ engine, ledger }) => {
      if (values.list === true || values.verify === true) return list(ledger, values.verify === true, output.say);
      if (number !== null) {
        const blocks = await engine.restore(number);
        output.say(`archive ${number} is back in the ledger, ${blocks} blocks; its file stays where it is`);
        return { exitCode: 0, value: { restored: number, blocks } };
      }
      const { files, charges, amount, bytes, held } = await engine.archive();
      output.say(
        files === 0
          ? "nothing is old enough"
          : `${charges} charges, ${formatUsd(amount)} USD, are in ${files} files of ${(bytes / 1_048_576).toFixed(1)} MiB`,
      );
      if (held !== null) output.say(`no more is archived: ${held}`);
      return { exitCode: held === null ? 0 : 1, value: { files, charges, amountUsd: formatUsd(amount), bytes, held } };
    });
  },
};

async function list(ledger: Ledger, verify: boolean, say: (line: string) => void) {
  const archives: { number: number; state: string; file: string; bytes: number; charges: number; amountUsd: string }[] =
    [];
  const problems: string[] = [];
  for (let from = 0; ; ) {
    const page = await ledger.listArchives(from, PAGE);
    for (const { number, state, file, bytes, charges, accrued } of page) {
      archives.push({ number, state, file, bytes, charges, amountUsd: formatUsd(accrued) });
      say(`${number}  ${file}  ${state}  ${charges} charges  ${formatUsd(accrued)} USD  ${bytes} bytes`);
      const problem = verify ? await ledger.verifyArchive(number) : null;
      if (problem !== null) problems.push(problem);
    }
    const last = page.at(-1);
    if (last === undefined) break;
    from = last.number + 1;
  }
  for (const problem of problems) say(problem);
  if (verify)
    say(problems.length === 0 ? `all ${archives.length} files are what was written` : `${problems.length} are not`);
  return { exitCode: problems.length === 0 ? 0 : 1, value: { archives, problems } } as const;
}
