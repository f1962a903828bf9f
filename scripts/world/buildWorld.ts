import { connectWorld } from "./connectWorld.ts";
import { deployWorld } from "./deployWorld.ts";
import { populateWorld } from "./populateWorld.ts";
import type { Account, Host, Plan, World } from "./world.ts";

// Makes a plan come true on an empty chain.
export async function buildWorld<A extends Account>(host: Host<A>, plan: Plan<A>): Promise<World<A>> {
  await deployWorld(host, plan);
  const world = await connectWorld(plan);
  await populateWorld(host, plan, world);
  return world;
}
