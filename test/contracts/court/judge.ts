import { createJudgeMany } from "../../../bench/court/createJudgeMany.ts";
import { JsonSchema__factory, ValidateMany__factory } from "../../../typechain-types/index.ts";
import { ethers } from "../fixture.ts";

const CASES_PER_CALL = 50;

// The contract that judges, on the chain of all contract tests.
export async function openJudge() {
  const deployer = await ethers.provider.getSigner(0);
  const contract = await new JsonSchema__factory(deployer).deploy();
  const many = await new ValidateMany__factory(deployer).deploy();
  return { contract, judgeMany: createJudgeMany(contract, many, CASES_PER_CALL) };
}
