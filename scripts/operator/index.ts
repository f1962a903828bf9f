import { emptyTask, task } from "hardhat/config";
import { optional, reading, sending } from "../command/options.ts";

const operator = optional("operator", "Whose bond it is; your own otherwise");

export const operatorTasks = [
  emptyTask("bond", "What an operator pledges for its receipts").build(),
  reading(task(["bond", "show"], "Show an operator's bond, and what its limit asks for"))
    .addOption(operator)
    .setAction(() => import("./showBond.ts"))
    .build(),
  sending(task(["bond", "post"], "Add to an operator's bond"))
    .addOption(operator)
    .addOption(optional("amount", "How much, in USDC; what is missing otherwise"))
    .setAction(() => import("./postBond.ts"))
    .build(),
  sending(task(["bond", "answer"], "Show the receipts of contested rows that settle -- answers has printed"))
    .addPositionalArgument({ name: "file", description: "What it has printed" })
    .setAction(() => import("./answerContests.ts"))
    .build(),
  sending(task(["bond", "owner"], "Let another account own an operator's bond, such as a cold key"))
    .addOption(operator)
    .addOption(optional("to", "Who alone adds to it and takes it back from then on"))
    .setAction(() => import("./nameBondOwner.ts"))
    .build(),
  sending(task(["bond", "request"], "Ask a part of a bond back; it can leave in 21 days"))
    .addOption(operator)
    .addOption(optional("amount", "How much, in USDC; 0 takes the request back"))
    .setAction(() => import("./requestBond.ts"))
    .build(),
  sending(task(["bond", "withdraw"], "Withdraw what was asked back, once it is ready"))
    .addOption(operator)
    .addOption(optional("to", "Whom to send it to; you otherwise"))
    .setAction(() => import("./withdrawBond.ts"))
    .build(),
];
