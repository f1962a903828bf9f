import { emptyTask, task } from "hardhat/config";
import { administering, optional, reading } from "../command/options.ts";

const operator = { name: "operator", description: "The operator's address" } as const;
const operation = optional("operation", "The operation's id, from operation list; the only one otherwise");
const tool = { name: "tool", description: "The tool's id, a UUID" } as const;
const limit = optional("limit", "What it may settle in any 24 hours, in USDC");
const terms = optional("terms", "The JSON file with amount, evidence and refunds");

const operatorTasks = [
  emptyTask("operator", "Who settles, and how much").build(),
  reading(task(["operator", "list"], "Show all operators and what is left of their limits"))
    .setAction(() => import("./listOperators.ts"))
    .build(),
  administering(task(["operator", "add"], "Add an operator (admin, delayed)"))
    .addPositionalArgument(operator)
    .addOption(limit)
    .setAction(() => import("./addOperator.ts"))
    .build(),
  administering(task(["operator", "limit"], "Change an operator's limit (admin, delayed)"))
    .addPositionalArgument(operator)
    .addOption(limit)
    .setAction(() => import("./limitOperator.ts"))
    .build(),
  administering(task(["operator", "remove"], "Remove an operator (admin, delayed)"))
    .addPositionalArgument(operator)
    .setAction(() => import("./removeOperator.ts"))
    .build(),
  administering(task(["operator", "suspend"], "Stop an operator at once (guardian)"))
    .addPositionalArgument(operator)
    .setAction(() => import("./suspendOperator.ts"))
    .build(),
];

const operationTasks = [
  emptyTask("operation", "What the admin has scheduled").build(),
  reading(task(["operation", "list"], "Show what is scheduled and when it is ready"))
    .setAction(() => import("./listOperations.ts"))
    .build(),
  administering(task(["operation", "schedule"], "Schedule any call that the admin may make"))
    .addOption(optional("contract", "manager, staking or router"))
    .addOption(optional("method", "The function's name, such as grantRole"))
    .addOption({ name: "arguments", description: "The function's arguments as a JSON list", defaultValue: "[]" })
    .setAction(() => import("./scheduleOperation.ts"))
    .build(),
  administering(task(["operation", "execute"], "Execute a scheduled operation that is ready"))
    .addPositionalArgument(operation)
    .setAction(() => import("./executeOperation.ts"))
    .build(),
  administering(task(["operation", "cancel"], "Cancel a scheduled operation"))
    .addPositionalArgument(operation)
    .setAction(() => import("./cancelOperation.ts"))
    .build(),
];

const slashTasks = [
  emptyTask("slash", "Take the stake of a tool that cheated").build(),
  reading(task(["slash", "show"], "Show a tool's proposed slash"))
    .addPositionalArgument(tool)
    .setAction(() => import("./showSlash.ts"))
    .build(),
  administering(task(["slash", "propose"], "Propose a slash (adjudicator)"))
    .addPositionalArgument(tool)
    .addOption(terms)
    .setAction(() => import("./proposeSlash.ts"))
    .build(),
  administering(task(["slash", "execute"], "Execute a proposed slash after its delay (adjudicator)"))
    .addPositionalArgument(tool)
    .addOption(terms)
    .setAction(() => import("./executeSlash.ts"))
    .build(),
  administering(task(["slash", "dismiss"], "Drop a proposed slash (adjudicator)"))
    .addPositionalArgument(tool)
    .setAction(() => import("./dismissSlash.ts"))
    .build(),
  administering(task(["slash", "veto"], "Stop a proposed slash (guardian)"))
    .addPositionalArgument(tool)
    .setAction(() => import("./vetoSlash.ts"))
    .build(),
];

export const administrationTasks = [
  ...operatorTasks,
  ...operationTasks,
  ...slashTasks,
  administering(task("pause", "Stop all payments at once (guardian)"))
    .setAction(() => import("./pause.ts"))
    .build(),
  administering(task("unpause", "Let payments go on (guardian)"))
    .setAction(() => import("./unpause.ts"))
    .build(),
  reading(task("parameters", "Show the parameters in force"))
    .setAction(() => import("./parameters.ts"))
    .build(),
  administering(task("set-parameters", "Change parameters (admin, delayed)"))
    .addOption(optional("minimumStake", "The least stake of any tool, in USDC"))
    .addOption(optional("stakeMultiplier", "How many times its price a tool has to stake"))
    .addOption(optional("bountyBps", "The reporter's share of a slash, in hundredths of a percent"))
    .setAction(() => import("./setParameters.ts"))
    .build(),
  administering(task("insurance", "Show or set what the platform absorbs (insurance account)"))
    .addOption(optional("set", "The new allowance in USDC"))
    .setAction(() => import("./insurance.ts"))
    .build(),
];
