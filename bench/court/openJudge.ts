import { JsonRpcProvider } from "ethers";
import { startAnvil } from "../../scripts/world/hosts/startAnvil.ts";
import { type JsonSchema, JsonSchema__factory, ValidateMany__factory } from "../../typechain-types/index.ts";
import { createJudgeMany, type JudgeMany } from "./createJudgeMany.ts";

export type Judge = {
  contract: JsonSchema;
  judgeMany: JudgeMany;
  close: () => Promise<void>;
};

// Some hundred cases fit into what anvil lets a call spend.
const CASES_PER_CALL = 100;
const BASE = 8453;

// The contract that judges, on an anvil, which runs it many times faster than the chain inside of this process does.
export async function openJudge(): Promise<Judge> {
  const anvil = await startAnvil({ port: 0, chainId: BASE });
  const provider = new JsonRpcProvider(anvil.url, BASE, { staticNetwork: true, cacheTimeout: -1 });
  try {
    const deployer = await provider.getSigner(0);
    const contract = await (await new JsonSchema__factory(deployer).deploy()).waitForDeployment();
    const many = await (await new ValidateMany__factory(deployer).deploy()).waitForDeployment();
    return {
      contract,
      judgeMany: createJudgeMany(contract, many, CASES_PER_CALL),
      close: async () => {
        provider.destroy();
        await anvil.stop();
      },
    };
  } catch (error) {
    provider.destroy();
    await anvil.kill();
    throw error;
  }
}
