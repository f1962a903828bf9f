// Where `npm run settle` begins.
import { launch } from "./launch.mjs";

await launch(() => import("./index.ts"));
