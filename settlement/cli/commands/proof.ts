import type { Hex } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import { verifyProof } from "../../engine/watch/prove.ts";
import { noReceipt, proofView } from "../../views/batches/proof.ts";
import type { Command } from "../command.ts";
import { UsageError } from "../readArguments.ts";
import { withEngine } from "../withEngine.ts";

const HASH = /^0x[0-9a-f]{64}$/i;

export const proof: Command = {
  name: "proof",
  usage: "<charge>",
  help: ["Prints the receipt, its leaf, the path to the root, and when the chain settled the root."],
  positionals: { min: 1, max: 1 },
  run: ({ positionals: [text = ""], output }) => {
    if (!HASH.test(text)) throw new UsageError("a charge is 0x and 64 digits");
    const chargeId = text.toLowerCase() as Hex;
    return withEngine(output, { keys: false }, async ({ engine }) => {
      const outcome = await engine.prove(chargeId);
      if (outcome.kind === "charge_not_found")
        throw new SettlementError("invalid_input", `there is no charge ${chargeId}`);
      if (outcome.kind === "not_in_a_batch")
        throw new SettlementError("invalid_input", "the charge is in no batch yet");
      if (outcome.kind === "no_receipt") throw new SettlementError("invalid_input", noReceipt(outcome.batchId));
      const view = proofView(outcome.proof);
      const holds = verifyProof(outcome.proof) && view.settledAt !== null;
      output.say(`charge   ${view.charge.chargeId}  ${view.charge.amountUsd} USD  ${view.charge.state}`);
      output.say(`receipt  ${view.receipt}`);
      output.say(`leaf     ${view.leaf}`);
      for (const sibling of view.path) output.say(`path     ${sibling}`);
      output.say(`root     ${view.root}`);
      output.say(view.settledAt === null ? "the chain has not settled this root" : `settled  ${view.settledAt}`);
      return { exitCode: holds ? 0 : 1, value: view };
    });
  },
};
