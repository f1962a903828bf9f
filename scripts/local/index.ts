import { task } from "hardhat/config";
import { ArgumentType } from "hardhat/types/arguments";
import { reading } from "../command/options.ts";

export const localTasks = [
  reading(task("prepare-local", "Put USDC on a fresh local chain and share it out"))
    .addOption({ name: "amount", description: "USDC for each account of the node", defaultValue: "1000" })
    .setAction(() => import("./prepareLocal.ts"))
    .build(),
  reading(task("pass-time", "Let days go by on a local chain"))
    .addPositionalArgument({ name: "days", description: "How many days", type: ArgumentType.INT })
    .setAction(() => import("./passTime.ts"))
    .build(),
];
