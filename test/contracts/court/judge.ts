import type { Case } from "../../../bench/court/cases/generateCases.ts";
import { bytesOf, type Verdict } from "../../../bench/court/openJudge.ts";
import { JsonSchema__factory, ValidateMany__factory } from "../../../typechain-types/index.ts";
import { ethers } from "../fixture.ts";

const VERDICTS: readonly Verdict[] = ["unknown", "valid", "invalid"];
const CASES_PER_CALL = 50;

// The contract that judges, on the chain of all contract tests.
export async function openJudge() {
  const deployer = await ethers.provider.getSigner(0);
  const contract = await new JsonSchema__factory(deployer).deploy();
  const many = await new ValidateMany__factory(deployer).deploy();

  async function judgeMany(cases: readonly Case[]): Promise<Verdict[]> {
    const verdicts: Verdict[] = [];
    for (let start = 0; start < cases.length; start += CASES_PER_CALL) {
      const some = cases.slice(start, start + CASES_PER_CALL);
      const [schemas, jsons] = [some.map(({ schema }) => bytesOf(schema)), some.map(({ json }) => bytesOf(json))];
      const answers = await many.validate(contract, schemas, jsons);
      verdicts.push(...answers.map((answer) => VERDICTS[Number(answer)] as Verdict));
    }
    return verdicts;
  }

  return { contract, judgeMany };
}
