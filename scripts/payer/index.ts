import { emptyTask, task } from "hardhat/config";
import { lookingAs, optional, sending } from "../command/options.ts";

const budget = { name: "budget", description: "The budget's id, a number" } as const;

const consentTasks = [
  emptyTask("consent", "Whether anything is charged without a signature").build(),
  sending(task(["consent", "on"], "Be charged under signed budgets alone, from now on"))
    .setAction(() => import("./consentOn.ts"))
    .build(),
  sending(task(["consent", "off"], "Be charged without a budget, too"))
    .setAction(() => import("./consentOff.ts"))
    .build(),
  emptyTask("budget", "What a payer agrees to pay").build(),
  sending(task(["budget", "sign"], "Sign the most that may be spent, without gas"))
    .addOption(optional("max", "The most that may be spent under it in all, in USDC"))
    .addOption(optional("id", "The budget to raise; a new one otherwise"))
    .addOption({ name: "hours", description: "How long it is good for", defaultValue: "24" })
    .addOption(optional("tools", "The ids of the tools that it is for, separated by commas; all of them otherwise"))
    .addOption(optional("into", "Write it into this file"))
    .setAction(() => import("./budget/signBudget.ts"))
    .build(),
  lookingAs(task(["budget", "show"], "Show a budget as the chain knows it"))
    .addPositionalArgument(budget)
    .setAction(() => import("./budget/showBudget.ts"))
    .build(),
  sending(task(["budget", "end"], "Take back what was signed; delivered work can be settled for another day"))
    .addPositionalArgument(budget)
    .setAction(() => import("./budget/endBudget.ts"))
    .build(),
];

const prepaidTasks = [
  sending(task("deposit", "Pay in advance"))
    .addPositionalArgument({ name: "amount", description: "How much, in USDC" })
    .setAction(() => import("./prepaid/deposit.ts"))
    .build(),
  sending(task("refund", "Ask prepaid money back, and take it two days later"))
    .addOption(optional("ask", "How much to ask back, in USDC; 0 for nothing any more"))
    .addOption(optional("to", "Who gets it; your own account otherwise"))
    .setAction(() => import("./prepaid/refund.ts"))
    .build(),
  lookingAs(task("balance", "Show what is prepaid, and what was asked back"))
    .setAction(() => import("./prepaid/balance.ts"))
    .build(),
];

export const payerTasks = [
  sending(task("cap", "Show or change the spending cap"))
    .addOption(optional("set", "The new cap in USDC, such as 50"))
    .addOption(optional("raise", "How much more, in USDC"))
    .addOption(optional("lower", "How much less, in USDC"))
    .addOption(optional("permit", "Sign the change into this file for somebody else to send, instead of sending it"))
    .addOption(optional("account", "Whose cap to show; your own otherwise"))
    .setAction(() => import("./cap.ts"))
    .build(),
  sending(task("send-permit", "Send a spending cap that somebody else has signed"))
    .addPositionalArgument({ name: "file", description: "The file that cap --permit wrote" })
    .setAction(() => import("./sendPermit.ts"))
    .build(),
  sending(task("daily-cap", "Show or change what may be taken in any 24 hours"))
    .addOption(optional("set", "The new daily cap in USDC"))
    .addFlag({ name: "lift", description: "Have no daily cap" })
    .addOption(optional("account", "Whose daily cap to show; your own otherwise"))
    .setAction(() => import("./dailyCap.ts"))
    .build(),
  lookingAs(task("spendable", "Show what could be charged to a payer now"))
    .setAction(() => import("./spendable.ts"))
    .build(),
  sending(task("pay", "Pay for a tool directly"))
    .addPositionalArgument({ name: "tool", description: "The tool's id, a UUID" })
    .addOption(optional("amount", "What the tool gets, before the protocol's share, in USDC"))
    .addOption({ name: "modelCost", description: "What the platform gets for the model, in USDC", defaultValue: "0" })
    .setAction(() => import("./pay.ts"))
    .build(),
  sending(task("watch", "Check all that a payer was charged, and demand back what is wrong"))
    .addOption(optional("account", "Who was charged; your own account otherwise"))
    .addOption(optional("marketplace", "Who has the receipts; MARKETPLACE_URL of the environment otherwise"))
    .addOption(optional("receipts", "Keep receipts that are right in this folder"))
    .addOption({ name: "days", description: "How far to look back", defaultValue: "30" })
    .addFlag({ name: "contest", description: "Contest, prove and collect, with a deposit for each contest" })
    .addOption({
      name: "patience",
      description: "For how many hours a marketplace may be silent about a batch before that is contested",
      defaultValue: "48",
    })
    .addOption({
      name: "least",
      description: "What a row or a double charge must be worth in USDC to be demanded back",
      defaultValue: "0.05",
    })
    .addFlag({ name: "follow", description: "Go on until stopped" })
    .addOption({ name: "every", description: "Seconds between two looks with --follow", defaultValue: "60" })
    .setAction(() => import("./watch/watch.ts"))
    .build(),
  ...consentTasks,
  ...prepaidTasks,
];
