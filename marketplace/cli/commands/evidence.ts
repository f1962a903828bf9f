import type { Command } from "../../../settlement/cli/command.ts";
import { SettlementError } from "../../../settlement/domain/errors.ts";
import { readMarketConfig } from "../../config.ts";
import { openStore } from "../../database/openStore.ts";
import { findEvidence, listEvidence } from "../../execute/evidence.ts";

const MAX_LISTED = 100;

export const evidence: Command = {
  name: "evidence",
  usage: "[<callId>] [--tool ID]",
  help: [
    "Lists the newest answers that were something else than their method promises, of one tool with --tool.",
    "With a call's id and --json it writes what hardhat convict takes: evidence <callId> --json > broken.json.",
    "The court hears of an answer for 3 days; answers are kept for 30, 100 of a tool in a day.",
  ],
  options: { tool: { type: "string" } },
  positionals: { min: 0, max: 1 },
  async run({ positionals: [callId], values, output }) {
    const store = await openStore(readMarketConfig(output.environment).database);
    try {
      if (callId !== undefined) {
        const found = await findEvidence(store.read, callId);
        if (found === null || !found.isSigned) {
          throw new SettlementError("invalid_input", `no signed answer of call ${callId} is kept; see evidence`);
        }
        output.say("The answer is kept with all that a conviction needs: write it to a file with --json.");
        const { schema, content, answer } = found;
        return { exitCode: 0, value: { schema, content, answer } };
      }
      const of = typeof values.tool === "string" ? { toolId: values.tool } : null;
      const kept = await listEvidence(store.read, of, MAX_LISTED);
      for (const { callId: id, toolId, method, atMs, problem, isSigned } of kept) {
        const how = isSigned ? "signed" : "not signed";
        output.say(
          `${new Date(atMs).toISOString()}  ${id}  ${toolId}  ${oneLine(method)}  ${how}: ${oneLine(problem)}`,
        );
      }
      if (kept.length === 0) output.say("No answer was something else than its method promises.");
      return { exitCode: 0, value: { evidence: kept } };
    } finally {
      await store.close();
    }
  },
};

// What a tool has written moves no cursor of whoever reads it.
const oneLine = (text: string) => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
