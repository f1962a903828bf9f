// The daemon as production starts it, in a process of its own, with its log on. Says where it listens, and when it is asked how
// much memory it has held.
import { readConfig } from "../../settlement/config.ts";
import { createLogger } from "../../settlement/daemon/observability/createLogger.ts";
import { startDaemon } from "../../settlement/daemon/process/startDaemon.ts";

export type ServiceOptions = { environment: Record<string, string>; operatorKey: `0x${string}` };
export type Held = { rssMb: number };

const SAMPLE_MS = 50;

const { environment, operatorKey }: ServiceOptions = JSON.parse(process.argv[2] ?? "{}");
const config = { ...readConfig(environment), keys: [{ kind: "plain", privateKey: operatorKey }] as const };
let peakRss = 0;
const sampling = setInterval(() => {
  peakRss = Math.max(peakRss, process.memoryUsage.rss());
}, SAMPLE_MS);
const daemon = await startDaemon(config, { log: createLogger({ level: config.logLevel, secrets: [] }).log });
process.once("message", async () => {
  clearInterval(sampling);
  process.send?.({ rssMb: Math.round(peakRss / 2 ** 20) } satisfies Held);
  await daemon.stop();
  process.disconnect();
});
process.send?.(daemon.url);
