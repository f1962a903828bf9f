// `npm run --silent settle -- <command>`: the operator's command line.
import { runSettle } from "./runSettle.ts";

process.exitCode = await runSettle(process.argv.slice(2), process.env);
