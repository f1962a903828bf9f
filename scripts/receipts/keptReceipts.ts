import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ReceiptsAnswer, receiptsAnswer } from "./receipts.ts";

// Receipts that were right once, kept by whoever paid: no marketplace is needed to show them later, not even the one that gave
// them. They are checked against the chain again each time.
export type KeptReceipts = {
  read(batchId: string): ReceiptsAnswer | null;
  keep(batchId: string, answer: ReceiptsAnswer): void;
};

export function createKeptReceipts(folder: string | undefined): KeptReceipts {
  if (folder === undefined) {
    // As long as the command runs, so that nobody is asked the same every minute.
    const kept = new Map<string, ReceiptsAnswer>();
    return { read: (batchId) => kept.get(batchId) ?? null, keep: (batchId, answer) => kept.set(batchId, answer) };
  }
  mkdirSync(folder, { recursive: true });
  const pathOf = (batchId: string) => join(folder, `${batchId}.json`);
  return {
    read(batchId) {
      if (!existsSync(pathOf(batchId))) return null;
      try {
        return receiptsAnswer.parse(JSON.parse(readFileSync(pathOf(batchId), "utf8")));
      } catch {
        // A file that was cut short is as good as none: the marketplace is asked again.
        return null;
      }
    },
    keep(batchId, answer) {
      const draft = `${pathOf(batchId)}.new`;
      writeFileSync(draft, `${JSON.stringify(answer)}\n`);
      renameSync(draft, pathOf(batchId));
    },
  };
}
