import { reconcileBatch } from "../../engine/reconcileBatch.ts";
import { type Command, UsageError } from "../command.ts";
import { type Opened, withEngine } from "../withEngine.ts";

const DEFAULT_BATCHES = 1_000;

export const reconcile: Command = {
  name: "reconcile",
  usage: "[--batches <n>] [--resume]",
  help: [
    "Reads the transaction of each of the newest batches (1000 unless told otherwise) again.",
    "With --resume it lifts a halt once nothing differs. Ends with 1 if something differs.",
  ],
  options: { batches: { type: "string" }, resume: { type: "boolean" } },
  run: ({ values, output }) => {
    const limit = Number(values.batches ?? DEFAULT_BATCHES);
    if (!(Number.isSafeInteger(limit) && limit > 0)) throw new UsageError("--batches has to be a whole number.");
    return withEngine(output, { keys: false }, async (opened) => {
      const differences = await compare(opened, limit, output.progress);
      for (const difference of differences) output.say(difference);
      output.say(differences.length === 0 ? "nothing differs" : `${differences.length} batches differ`);
      const resumed = values.resume === true && differences.length === 0 && (await opened.ledger.halted()) !== null;
      if (resumed) {
        await opened.ledger.resume();
        output.say("the halt is lifted");
      }
      return { exitCode: differences.length === 0 ? 0 : 1, value: { differences, resumed } };
    });
  },
};

async function compare({ ledger, chain }: Opened, limit: number, progress: (text: string) => void): Promise<string[]> {
  const differences: string[] = [];
  const batches = (await ledger.batches(limit, 0)).filter(({ state }) => state === "final" || state === "included");
  for (const [i, { root, inclusion }] of batches.entries()) {
    progress(`${i + 1} of ${batches.length} batches`);
    const submission = await ledger.submission(root);
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
