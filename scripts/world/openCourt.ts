import {
  type JsonSchema,
  JsonSchema__factory,
  type SchemaCourt,
  SchemaCourt__factory,
} from "../../typechain-types/index.ts";
import { ADMIN_DELAY_SECONDS, ROLES } from "../protocol/description.ts";
import { mined } from "./mined.ts";
import type { LocalWorld } from "./startWorld.ts";

export type LocalCourt = { court: SchemaCourt; judge: JsonSchema };

// Deploys a schema court into a world, and lets the admin make it one, which takes eight days.
export async function openCourt({ parties, manager, staking, receiptCourt, rpc }: LocalWorld): Promise<LocalCourt> {
  const { deployer, admin } = parties;
  const judge = await (await new JsonSchema__factory(deployer).deploy()).waitForDeployment();
  const court = await (
    await new SchemaCourt__factory(deployer).deploy(
      await staking.getAddress(),
      await judge.getAddress(),
      await receiptCourt.getAddress(),
    )
  ).waitForDeployment();
  const grant = manager.interface.encodeFunctionData("grantRole", [ROLES.court, await court.getAddress(), 0]);
  const target = await manager.getAddress();
  await mined(manager.connect(admin).schedule(target, grant, 0));
  await rpc("evm_increaseTime", [ADMIN_DELAY_SECONDS]);
  await mined(manager.connect(admin).grantRole(ROLES.court, await court.getAddress(), 0));
  return { court, judge };
}
