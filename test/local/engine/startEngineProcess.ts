import { type Program, startProgram } from "../../../scripts/process/startProgram.ts";
import type { EngineProcessOptions } from "./engineProcess.ts";

export const startEngineProcess = (options: EngineProcessOptions): Program =>
  startProgram("node_modules/.bin/node", ["test/local/engine/engineProcess.ts", JSON.stringify(options)]);
