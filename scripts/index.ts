import { deployTasks } from "./deploy/index.ts";
import { localTasks } from "./local/index.ts";

// Every command of the project, by party.
export const tasks = [...deployTasks, ...localTasks];
