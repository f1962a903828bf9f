import type { ToolId } from "../../settlement/domain/toolId.ts";
import { IFiatToken__factory } from "../../typechain-types/index.ts";
import { connectProtocol } from "../protocol/connectProtocol.ts";
import { planDeployment } from "../protocol/create2.ts";
import { DEFAULT_LABEL } from "../protocol/label.ts";
import { type Account, type Plan, termsOf, USDC_ADDRESS, type World } from "./world.ts";

// The world of a plan on the chain that has it. Where everything is follows from the plan; what a tool had to stake is
// asked of the chain.
export async function connectWorld<A extends Account>(plan: Plan<A>): Promise<World<A>> {
  const { parties, circle, operators } = plan;
  const protocol = connectProtocol(planDeployment(termsOf(plan), DEFAULT_LABEL).addresses, parties.deployer);
  const { staking } = protocol;
  const tools = await Promise.all(
    plan.tools.map(async ({ developer, salt, price }) => {
      const [toolId, stake] = await Promise.all([staking.toolIdOf(developer, salt), staking.requiredStake(price)]);
      return { toolId: toolId as ToolId, developer, price, stake };
    }),
  );
  const payers = plan.payers.map(({ account }) => account);
  return {
    ...protocol,
    usdc: IFiatToken__factory.connect(USDC_ADDRESS, circle),
    parties,
    circle,
    operators,
    payers,
    tools,
  };
}
