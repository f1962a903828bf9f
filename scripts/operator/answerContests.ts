import { readFileSync } from "node:fs";
import { z } from "zod";
import { ReceiptCourt__factory } from "../../typechain-types/index.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { demandEach } from "../command/transaction/demandEach.ts";
import { send } from "../command/transaction/send.ts";

const court = ReceiptCourt__factory.createInterface();
const { selector } = court.getFunction("answer");

const answer = z.object({
  batchId: z.string(),
  payer: z.string(),
  calls: z.array(z.string().startsWith(selector)).optional(),
});

// `bond answer`: shows the receipts of contested rows that `settle -- answers` has printed, from an account of one's own. Each row by
// itself, so that one which somebody has answered meanwhile keeps none of the others back.
export default command<CommonArguments & { file: string }>(async ({ file }, session) => {
  const { addresses } = await openDeployment(session);
  const rows = readAnswers(file);
  const { sent, failed } = await demandEach(rows, ({ batchId, payer, calls = [] }) =>
    send(session, {
      sentence: `Show the receipts of ${payer} in batch ${batchId}.`,
      calls: calls.map((data, i) => ({
        title: `answer ${i + 1} of ${calls.length} for batch ${batchId}`,
        to: addresses.receiptCourt,
        data,
      })),
    }),
  );
  for (const reason of failed) session.output.say(reason);
  session.output.say(`${sent} of ${rows.length} contested rows are answered.`);
  session.output.result({ answered: sent, failed });
  if (failed.length > 0) throw new CommandError(`${failed.length} contested rows are not answered`, { failed });
});

// Lines of JSON; those without receipts have nothing to send. An empty file is one in which nothing is contested, and any other
// without such lines is a mistake.
function readAnswers(path: string): z.infer<typeof answer>[] {
  try {
    const text = readFileSync(path, "utf8");
    const lines = text.split("\n").filter((line) => line.startsWith("{"));
    if (lines.length === 0 && text.trim() !== "") throw new RangeError("there are no lines of JSON");
    return lines.map((line) => answer.parse(JSON.parse(line))).filter(({ calls }) => calls !== undefined);
  } catch {
    throw new CommandError(`${path} has no answers: write what settle -- answers prints to a file, and name it`);
  }
}
