import { contributorTasks } from "./contributor/index.ts";
import { deployTasks } from "./deploy/index.ts";
import { localTasks } from "./local/index.ts";
import { payerTasks } from "./payer/index.ts";

// Every command of the project, by party.
export const tasks = [...deployTasks, ...contributorTasks, ...payerTasks, ...localTasks];
