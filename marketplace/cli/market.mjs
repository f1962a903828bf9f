// Where `npm run market` begins.
import { launch } from "../../settlement/cli/launch.mjs";

await launch(() => import("./index.ts"));
