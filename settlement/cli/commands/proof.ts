import { isHex } from "viem";
import { proofView } from "../../daemon/routes/platform/charges.ts";
import { SettlementError } from "../../domain/errors.ts";
import { verifyProof } from "../../engine/prove.ts";
import { type Command, UsageError } from "../command.ts";
import { withEngine } from "../withEngine.ts";

const HASH_LENGTH = 66;

export const proof: Command = {
  name: "proof",
  usage: "<charge>",
  help: ["Prints the receipt, its leaf, the path to the root, and when the chain settled the root."],
  positionals: { min: 1, max: 1 },
  run: ({ positionals: [chargeId = ""], output }) => {
    if (!isHex(chargeId) || chargeId.length !== HASH_LENGTH) throw new UsageError("A charge is 0x and 64 digits.");
    return withEngine(output, { keys: false }, async ({ engine }) => {
      const outcome = await engine.prove(chargeId);
      if (outcome.kind === "charge_not_found")
        throw new SettlementError("invalid_input", `there is no charge ${chargeId}`);
      if (outcome.kind === "not_in_a_batch")
        throw new SettlementError("invalid_input", "the charge is in no batch yet");
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
