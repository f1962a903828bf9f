import { task } from "hardhat/config";
import { lookingAs, optional, reading, sending } from "../command/options.ts";

const tool = { name: "tool", description: "The tool's id, a UUID" } as const;

export const developerTasks = [
  sending(task("list-tool", "List a tool and stake for it"))
    .addOption(optional("name", "Your own name for the tool; its id is made of your address and this"))
    .addOption(optional("price", "The listing price in USDC, such as 0.10"))
    .addOption(optional("stake", "What to stake in USDC; what the price needs otherwise"))
    .addOption(optional("payout", "Whom the earnings are credited to; you otherwise"))
    .setAction(() => import("./listTool.ts"))
    .build(),
  reading(task("tool", "Show a tool: stake, price, earnings, pending withdrawal"))
    .addPositionalArgument(tool)
    .setAction(() => import("./tool.ts"))
    .build(),
  lookingAs(task("my-tools", "Show all tools of an account"))
    .setAction(() => import("./myTools.ts"))
    .build(),
  sending(task("set-price", "Change a tool's listing price"))
    .addPositionalArgument(tool)
    .addOption(optional("price", "The new price in USDC, such as 0.50"))
    .setAction(() => import("./setPrice.ts"))
    .build(),
  sending(task("set-payout", "Change whom a tool's later earnings are credited to"))
    .addPositionalArgument(tool)
    .addOption(optional("payout", "Who gets them"))
    .setAction(() => import("./setPayout.ts"))
    .build(),
  sending(task("stake", "Add to a tool's stake"))
    .addPositionalArgument(tool)
    .addOption(optional("amount", "How much, in USDC, such as 40 or 25.50"))
    .setAction(() => import("./stake.ts"))
    .build(),
  sending(task("request-withdrawal", "Request a part of a tool's stake back; it can be withdrawn in 7 days"))
    .addPositionalArgument(tool)
    .addOption(optional("amount", "How much, in USDC"))
    .setAction(() => import("./requestWithdrawal.ts"))
    .build(),
  sending(task("cancel-withdrawal", "Let a requested amount count as stake again"))
    .addPositionalArgument(tool)
    .setAction(() => import("./cancelWithdrawal.ts"))
    .build(),
  sending(task("withdraw", "Withdraw what was requested, once it is ready"))
    .addPositionalArgument(tool)
    .addOption(optional("to", "Whom to send it to; you otherwise"))
    .setAction(() => import("./withdraw.ts"))
    .build(),
  sending(task("claim", "Collect earnings, refunds and bounties"))
    .addOption(optional("to", "Whom to send them to; you otherwise"))
    .setAction(() => import("./claim.ts"))
    .build(),
];
