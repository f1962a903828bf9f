import { courtTasks } from "./court/index.ts";
import { deployerTasks } from "./deployer/index.ts";
import { developerTasks } from "./developer/index.ts";
import { governanceTasks } from "./governance/index.ts";
import { localTasks } from "./local/index.ts";
import { marketplaceTasks } from "./marketplace/commands/index.ts";
import { operatorTasks } from "./operator/index.ts";
import { payerTasks } from "./payer/index.ts";

// Every command of the project, by party.
export const tasks = [
  ...deployerTasks,
  ...governanceTasks,
  ...operatorTasks,
  ...developerTasks,
  ...courtTasks,
  ...payerTasks,
  ...marketplaceTasks,
  ...localTasks,
];
