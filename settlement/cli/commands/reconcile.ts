import { formatUsd } from "../../domain/money.ts";
import { reconcileBatch } from "../../engine/confirm/reconcileBatch.ts";
import type { Command } from "../command.ts";
import { wholeNumber } from "../readArguments.ts";
import { type Opened, withEngine } from "../withEngine.ts";

const DEFAULT_BATCHES = 1_000;

export const reconcile: Command = {
  name: "reconcile",
  usage: "[--batches <n>] [--adopt] [--reopen] [--resume]",
  help: [
    "Reads the transaction of each of the newest batches (1000 unless told otherwise) again, and looks for batches that our",
    "keys have settled and the ledger does not know: after a restore, or because somebody else has a key.",
    "With --adopt it takes those in, so that nobody is charged again for what they took. With --reopen it puts what was final",
    "in blocks that the chain has undone on its way again. With --resume it lifts a halt once nothing differs.",
    "Ends with 1 if something differs.",
  ],
  options: {
    batches: { type: "string" },
    adopt: { type: "boolean" },
    reopen: { type: "boolean" },
    resume: { type: "boolean" },
  },
  run: ({ values, output }) => {
    const limit = wholeNumber("--batches", String(values.batches ?? DEFAULT_BATCHES));
    // The ledger may be older than the first use of a key, so the keys are those of the configuration.
    return withEngine(output, { keys: true }, async (opened) => {
      const adopted = values.adopt === true ? await adoptAll(opened, output.say) : [];
      const reopened = values.reopen === true ? await reopenAll(opened, output.say) : [];
      const differences = [
        ...(await compare(opened, limit, output.progress)),
        ...(await unknownOf(opened)),
        ...(await vanishedOf(opened)),
      ];
      for (const difference of differences) output.say(difference);
      output.say(differences.length === 0 ? "nothing differs" : `${differences.length} batches differ`);
      const resumed = values.resume === true && differences.length === 0 && (await opened.ledger.readHalt()) !== null;
      if (resumed) {
        await opened.ledger.resume();
        output.say("the halt is lifted");
      }
      return { exitCode: differences.length === 0 ? 0 : 1, value: { differences, adopted, reopened, resumed } };
    });
  },
};

async function unknownOf({ engine }: Opened): Promise<string[]> {
  const unknown = await engine.findUnknown();
  return unknown.map(
    ({ root, operator, txHash }) =>
      `batch ${root} in ${txHash} was settled by ${operator} and is not in the ledger; --adopt takes it in`,
  );
}

async function vanishedOf({ engine }: Opened): Promise<string[]> {
  const vanished = await engine.findVanished();
  return vanished.map(
    ({ id, kind, blockNumber, blockHash }) =>
      `${nameOf(kind)} ${id} was final in block ${blockNumber} as ${blockHash}, which the chain has undone; ` +
      "--reopen puts it on its way again",
  );
}

const nameOf = (kind: string) => (kind === "settle" ? "batch" : kind);

async function reopenAll({ engine }: Opened, say: (line: string) => void) {
  const reopened: { id: string; charges: number }[] = [];
  for (const { id, kind, reopening } of await engine.reopenVanished()) {
    const name = `${nameOf(kind)} ${id}`;
    if (reopening?.kind === "reopened") {
      say(`${name} is on its way again with ${reopening.charges} charges`);
      reopened.push({ id, charges: reopening.charges });
    }
    if (reopening?.kind === "adopted") say(`${name} was taken in from the chain; wait until it is mined again`);
    if (reopening?.kind === "archived") {
      say(`${name} is in the archive; bring it back with archive --restore, and run this again`);
    }
    if (reopening?.kind === "failed_rows") {
      say(`${name} had ${reopening.rows} rows that failed and were charged later; compare them by hand`);
    }
  }
  return reopened;
}

async function adoptAll({ engine }: Opened, say: (line: string) => void) {
  const adopted: { root: string; charges: number; unexplainedUsd: string }[] = [];
  for (const batch of await engine.findUnknown()) {
    const adoption = await engine.adopt(batch);
    if (adoption?.kind === "busy") {
      say(`batch ${adoption.root} is still on its way; wait until it is final or abandoned, and run this again`);
      break;
    }
    if (adoption?.kind !== "adopted") continue;
    const { charges, unexplained } = adoption;
    say(
      `batch ${batch.root} is taken in: it paid ${charges} charges, and ${formatUsd(unexplained)} USDC that no charge explains`,
    );
    adopted.push({ root: batch.root, charges, unexplainedUsd: formatUsd(unexplained) });
  }
  return adopted;
}

async function compare({ ledger, chain }: Opened, limit: number, progress: (text: string) => void): Promise<string[]> {
  const differences: string[] = [];
  const batches = (await ledger.listBatches(limit, 0)).filter(({ state }) => state === "final" || state === "included");
  for (const [i, { root, inclusion }] of batches.entries()) {
    progress(`${i + 1} of ${batches.length} batches`);
    const submission = await ledger.findSubmission(root);
    const receipt = inclusion === null ? null : await chain.receipt(inclusion.txHash);
    if (submission === null || receipt === null) {
      differences.push(`batch ${root}: its transaction ${inclusion?.txHash} is not on chain`);
      continue;
    }
    const difference = reconcileBatch(submission, receipt.batches.get(root) ?? null);
    if (difference !== null) differences.push(`batch ${root} in ${receipt.txHash}: ${difference}`);
  }
  return differences;
}
