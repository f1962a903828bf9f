import { JsonRpcProvider } from "ethers";
import { startAnvil } from "../../scripts/world/hosts/startAnvil.ts";
import { type JsonSchema, JsonSchema__factory, ValidateMany__factory } from "../../typechain-types/index.ts";
import type { Case } from "./cases/generateCases.ts";

const VERDICTS = ["unknown", "valid", "invalid"] as const;

export type Verdict = (typeof VERDICTS)[number];

export type Judge = {
  contract: JsonSchema;
  judgeMany: (cases: readonly Case[]) => Promise<Verdict[]>;
  close: () => Promise<void>;
};

// Some hundred cases fit into what anvil lets a call spend.
const CASES_PER_CALL = 100;
const BASE = 8453;

export const bytesOf = (text: string) => `0x${Buffer.from(text, "utf8").toString("hex")}`;

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
      judgeMany: async (cases) => {
        const verdicts: Verdict[] = [];
        for (let start = 0; start < cases.length; start += CASES_PER_CALL) {
          const some = cases.slice(start, start + CASES_PER_CALL);
          const [schemas, jsons] = [some.map(({ schema }) => bytesOf(schema)), some.map(({ json }) => bytesOf(json))];
          const answers = await many.validate(contract, schemas, jsons);
          verdicts.push(...answers.map((answer) => VERDICTS[Number(answer)] as Verdict));
        }
        return verdicts;
      },
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
