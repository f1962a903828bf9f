import { emptyTask, task } from "hardhat/config";
import { administering, optional, reading } from "../command/options.ts";

const operator = { name: "operator", description: "The operator's address" } as const;
const operation = optional("operation", "The operation's id, from operation list; the only one otherwise");
const tool = { name: "tool", description: "The tool's id, a UUID" } as const;
const limit = optional("limit", "What it may settle in any 24 hours, in USDC");
const proposeOption = optional("propose", "The account that is to take the place (admin, delayed)");
const acceptFlag = { name: "accept", description: "Take the place (the account that was proposed)" } as const;
const terms = optional("terms", "The JSON file with amount, evidence and refunds");

const operatorTasks = [
  emptyTask("operator", "Who settles, and how much").build(),
  reading(task(["operator", "list"], "Show all operators and what is left of their limits"))
    .setAction(() => import("./admin/listOperators.ts"))
    .build(),
  administering(task(["operator", "add"], "Add an operator (admin, delayed)"))
    .addPositionalArgument(operator)
    .addOption(limit)
    .setAction(() => import("./admin/addOperator.ts"))
    .build(),
  administering(task(["operator", "limit"], "Change an operator's limit (admin, delayed)"))
    .addPositionalArgument(operator)
    .addOption(limit)
    .setAction(() => import("./admin/limitOperator.ts"))
    .build(),
  administering(task(["operator", "remove"], "Remove an operator (admin, delayed)"))
    .addPositionalArgument(operator)
    .setAction(() => import("./admin/removeOperator.ts"))
    .build(),
  administering(task(["operator", "suspend"], "Stop an operator at once (guardian)"))
    .addPositionalArgument(operator)
    .setAction(() => import("./guardian/suspendOperator.ts"))
    .build(),
];

const operationTasks = [
  emptyTask("operation", "What the admin has scheduled").build(),
  reading(task(["operation", "list"], "Show what is scheduled and when it is ready"))
    .setAction(() => import("./admin/listOperations.ts"))
    .build(),
  administering(task(["operation", "schedule"], "Schedule any call that the admin may make"))
    .addOption(optional("contract", "manager, staking or router"))
    .addOption(optional("method", "The function's name, such as grantRole"))
    .addOption({ name: "arguments", description: "The function's arguments as a JSON list", defaultValue: "[]" })
    .setAction(() => import("./admin/scheduleOperation.ts"))
    .build(),
  administering(task(["operation", "execute"], "Execute a scheduled operation that is ready"))
    .addPositionalArgument(operation)
    .setAction(() => import("./admin/executeOperation.ts"))
    .build(),
  administering(task(["operation", "cancel"], "Cancel a scheduled operation (admin or guardian)"))
    .addPositionalArgument(operation)
    .setAction(() => import("./admin/cancelOperation.ts"))
    .build(),
];

const roleTasks = [
  emptyTask("role", "Who may do what").build(),
  reading(task(["role", "list"], "Show who holds which role"))
    .setAction(() => import("./listRoles.ts"))
    .build(),
  administering(task(["role", "suspend"], "Take the role of an adjudicator or a court away at once (guardian)"))
    .addPositionalArgument({ name: "role", description: "adjudicator or court" })
    .addPositionalArgument({ name: "account", description: "Who holds it" })
    .setAction(() => import("./guardian/suspendRole.ts"))
    .build(),
];

const slashTasks = [
  emptyTask("slash", "Take the stake of a tool that cheated").build(),
  reading(task(["slash", "show"], "Show a tool's proposed slash"))
    .addPositionalArgument(tool)
    .setAction(() => import("./adjudicator/showSlash.ts"))
    .build(),
  administering(task(["slash", "propose"], "Propose a slash (adjudicator)"))
    .addPositionalArgument(tool)
    .addOption(terms)
    .setAction(() => import("./adjudicator/proposeSlash.ts"))
    .build(),
  administering(task(["slash", "execute"], "Execute a proposed slash after its delay (adjudicator)"))
    .addPositionalArgument(tool)
    .addOption(terms)
    .setAction(() => import("./adjudicator/executeSlash.ts"))
    .build(),
  administering(task(["slash", "dismiss"], "Drop a proposed slash (adjudicator)"))
    .addPositionalArgument(tool)
    .setAction(() => import("./adjudicator/dismissSlash.ts"))
    .build(),
  administering(task(["slash", "veto"], "Stop a proposed slash (guardian)"))
    .addPositionalArgument(tool)
    .setAction(() => import("./guardian/vetoSlash.ts"))
    .build(),
];

export const governanceTasks = [
  ...operatorTasks,
  ...operationTasks,
  ...roleTasks,
  ...slashTasks,
  administering(task("pause", "Stop all payments at once (guardian)"))
    .setAction(() => import("./guardian/pause.ts"))
    .build(),
  administering(task("unpause", "Let payments go on (guardian)"))
    .setAction(() => import("./guardian/unpause.ts"))
    .build(),
  reading(task("parameters", "Show the parameters in force"))
    .setAction(() => import("./admin/parameters.ts"))
    .build(),
  administering(task("set-parameters", "Change parameters (admin, delayed)"))
    .addOption(optional("minimumStake", "The least stake of any tool, in USDC"))
    .addOption(optional("stakeMultiplier", "How many times its price a tool must stake"))
    .addOption(optional("bountyBps", "The reporter's share of a slash, in basis points"))
    .addOption(optional("maxPenalty", "The most that a court takes at once, in USDC"))
    .addOption(optional("dailyPenaltyBps", "The most of a stake that courts take in any 24 hours, in basis points"))
    .addOption(optional("earningMultiple", "How many times its stake a tool may earn in any 24 hours"))
    .setAction(() => import("./admin/setParameters.ts"))
    .build(),
  administering(task("treasury", "Show or replace who earns the protocol's share"))
    .addOption(proposeOption)
    .addFlag(acceptFlag)
    .setAction(() => import("./treasury.ts"))
    .build(),
  administering(task("insurance", "Show or set what the platform absorbs, or replace who pays for it"))
    .addOption(optional("set", "The new allowance in USDC (insurance account)"))
    .addOption(proposeOption)
    .addFlag(acceptFlag)
    .setAction(() => import("./insurance.ts"))
    .build(),
];
