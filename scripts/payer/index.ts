import { task } from "hardhat/config";
import { lookingAs, optional, sending } from "../command/options.ts";

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
];
