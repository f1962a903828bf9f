// An engine in a process of its own, to be killed. It settles until nothing is pending and then ends; with `crashAt` it
// kills itself, without any clean-up, when it gets there.
import { setTimeout as pause } from "node:timers/promises";
import type { Address } from "viem";
import type { KeyConfig } from "../../../settlement/config.ts";
import type { Failpoint, Policy } from "../../../settlement/engine/context.ts";
import { openEngine } from "../../../settlement/openEngine.ts";

export type EngineProcessOptions = {
  chainId: number;
  rpcUrl: string;
  router: Address;
  ledger: string;
  keys: readonly KeyConfig[];
  holder: string;
  policy: Partial<Policy>;
  crashAt?: Failpoint;
};

const options: EngineProcessOptions = JSON.parse(process.argv[2] ?? "{}");

const { engine, ledger, close } = await openEngine({
  ...options,
  rpcUrls: [options.rpcUrl],
  reached: (failpoint) => {
    if (failpoint === options.crashAt) process.kill(process.pid, "SIGKILL");
  },
});
while ((await ledger.readTotals()).pending > 0n) {
  await engine.tick({ atOnce: true });
  await pause(20);
}
await close();
