import type { Address, Hex } from "viem";
import { policyOf } from "../../config.ts";
import { answersOf } from "../../engine/court/answerOf.ts";
import { receiptsOf } from "../../engine/court/receiptsOf.ts";
import { DEFAULT_POLICY } from "../../engine/policy.ts";
import type { Ledger, NotedContest } from "../../ledger/ledger.ts";
import type { Command } from "../command.ts";
import { withEngine } from "../withEngine.ts";

const PAGE = 200;

// One contested row: what the court is sent for it, or why there is nothing to send.
type Answered = { batchId: Hex; payer: Address; operator: Address; until: string } & (
  | { calls: Hex[] }
  | { problem: string }
);

export const answers: Command = {
  name: "answers",
  usage: "",
  help: [
    "Prints what answers the rows that are contested now: one line of JSON for each, with the calldata for the court. The daemon",
    "answers by itself; this is for when it may not, because settlement is halted or somebody else has the operator's key. Any",
    "account can send it, with npx hardhat bond answer. Ends with 1 if there are no receipts for a row.",
  ],
  run: ({ output }) =>
    withEngine(output, { keys: false }, async ({ ledger, chain, config }) => {
      const bounds = { ...DEFAULT_POLICY, ...policyOf(config) }.court;
      const head = await chain.head();
      const found: Answered[] = [];
      for await (const contest of openContests(ledger)) {
        const { batchId, account, operator, untilMs } = contest;
        const { stage } = await chain.contestOf(batchId, account, head);
        if (stage !== "contested") continue;
        const answer = answersOf(contest, await receiptsOf(ledger, chain, batchId, account), bounds);
        const about = { batchId, payer: account, operator, until: new Date(untilMs).toISOString() };
        const one =
          answer.kind === "answers" ? { ...about, calls: answer.calls } : { ...about, problem: answer.reason };
        found.push(one);
        output.say(JSON.stringify(one));
      }
      return { exitCode: found.some((one) => "problem" in one) ? 1 : 0, value: found };
    }),
};

// The largest first, of every key that the ledger knows.
async function* openContests(ledger: Ledger): AsyncGenerator<NotedContest> {
  for (const { operator } of await ledger.listOperators()) {
    for (let offset = 0; ; offset += PAGE) {
      const page = await ledger.listOpenContests(operator, PAGE, offset, "largest");
      yield* page;
      if (page.length < PAGE) break;
    }
  }
}
