import { contributorTasks } from "./contributor/index.ts";
import { deployTasks } from "./deploy/index.ts";
import { localTasks } from "./local/index.ts";
import { administrationTasks } from "./operator/index.ts";
import { payerTasks } from "./payer/index.ts";

// Every command of the project, by party.
export const tasks = [...deployTasks, ...administrationTasks, ...contributorTasks, ...payerTasks, ...localTasks];
