import { keccak256 } from "ethers";
import { type DeploymentRecord, writeDeployment } from "../../settlement/deployment.ts";
import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { ProtocolAccess__factory } from "../../typechain-types/index.ts";
import { requiredAddress, requiredAmount } from "../command/arguments.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import type { Row } from "../command/output.ts";
import type { CommonArguments, Session } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";
import type { Call } from "../command/transaction/simulate.ts";
import { environment } from "../config/environment.ts";
import { currentCommit } from "../protocol/commit.ts";
import {
  CREATE2_PROXY,
  CREATE2_PROXY_CODE_HASH,
  creationCallOf,
  type Plan,
  planDeployment,
} from "../protocol/create2.ts";
import { handoverCallOf, ROLES, type Terms } from "../protocol/description.ts";
import { findSharedDuties } from "../protocol/duties.ts";
import { recordOf } from "../protocol/record.ts";
import { rowOf } from "./differences/difference.ts";
import { findCreationBlock } from "./findCreationBlock.ts";
import { findDifferences } from "./findDifferences.ts";

type Arguments = CommonArguments & {
  admin: string | undefined;
  treasury: string | undefined;
  insurance: string | undefined;
  operator: string | undefined;
  operatorLimit: string;
  guardian: string | undefined;
  adjudicator: string | undefined;
  label: string;
};

// Creates what is missing of the contracts and hands the roles over. Every address follows from the terms, so a
// run after a failed one finds what is there already and goes on from it.
export default command<Arguments>(async (args, session) => {
  const { output, provider } = session;
  const terms = await readTerms(args, session);
  await requireCode(session, terms.usdc);
  const plan = planDeployment(terms, args.label);
  const calls = await remainingCalls(session, terms, plan);
  const rows: Row[] = [
    ...plan.contracts.map(({ title, address }): Row => [title, address]),
    ["operator", `${terms.parties.operator}, up to ${formatUsd(microUsdc(terms.parties.operatorLimit))} USDC a day`],
  ];

  const startBlock = await provider.getBlockNumber();
  if (calls.length === 0) {
    output.say("Everything has been deployed and handed over already:");
    output.rows(rows);
  }
  const receipts =
    calls.length === 0
      ? []
      : await send(session, { sentence: "Deploy the protocol and hand every role over.", rows, calls });

  const record = await describeRecord(session, terms, plan, args.label, startBlock);
  const differences = await findDifferences(session, record);
  if (differences.length > 0) {
    output.rows(differences.map(rowOf));
    throw new CommandError(
      "the contracts are there, but not as asked for: for a deployment with other parties choose another --label",
      { differences },
    );
  }
  const path = writeDeployment(record, environment.deploymentsFolder);
  report(
    session,
    receipts,
    `Deployed. The deployer ${terms.deployer} holds no role, and everything is as described in ${path}.`,
    { record: path, addresses: plan.addresses },
  );
});

async function readTerms(args: Arguments, session: Session): Promise<Terms> {
  const parties = {
    admin: requiredAddress("--admin", args.admin),
    treasury: requiredAddress("--treasury", args.treasury),
    insurance: requiredAddress("--insurance", args.insurance),
    operator: requiredAddress("--operator", args.operator),
    guardian: requiredAddress("--guardian", args.guardian),
    adjudicator: requiredAddress("--adjudicator", args.adjudicator),
    operatorLimit: requiredAmount("--operator-limit", args.operatorLimit),
  };
  const deployer = (await session.signer()).address;
  for (const role of ["admin", "guardian", "adjudicator", "operator"] as const) {
    if (parties[role] !== deployer) continue;
    throw new CommandError(`the deployer must keep no role, and --${role} is the deployer ${deployer}: name another`);
  }
  const [shared] = findSharedDuties(parties);
  if (shared !== undefined) throw new CommandError(`${shared}: name two addresses`);
  return { deployer, usdc: session.settings.usdc, parties };
}

async function requireCode({ provider, network }: Session, usdc: string): Promise<void> {
  if ((await provider.getCode(usdc)) === "0x") {
    throw new CommandError(
      `there is no USDC at ${usdc} on ${network}: check the RPC address` +
        `${network === "local" ? ", or run prepare-local to put it there" : ""}`,
    );
  }
  if (keccak256(await provider.getCode(CREATE2_PROXY)) !== CREATE2_PROXY_CODE_HASH) {
    throw new CommandError(
      `the deterministic deployment proxy is not at ${CREATE2_PROXY} on ${network}: without it the addresses cannot be ` +
        "known beforehand",
    );
  }
}

async function remainingCalls({ provider }: Session, terms: Terms, plan: Plan): Promise<Call[]> {
  const codes = await Promise.all(plan.contracts.map(({ address }) => provider.getCode(address)));
  const missing = plan.contracts.filter((_, index) => codes[index] === "0x");
  const calls = missing.map(creationCallOf);
  const { manager } = plan.addresses;
  const managerExists = !missing.some(({ key }) => key === "manager");
  if (managerExists) {
    const [stillAdmin] = await ProtocolAccess__factory.connect(manager, provider).hasRole(ROLES.admin, terms.deployer);
    if (!stillAdmin) return calls;
  }
  return [...calls, { title: "hand the roles over", to: manager, data: handoverCallOf(terms, plan.addresses) }];
}

async function describeRecord(
  session: Session,
  terms: Terms,
  plan: Plan,
  label: string,
  startBlock: number,
): Promise<DeploymentRecord> {
  const contracts = await Promise.all(
    plan.contracts.map(async ({ key, address, arguments: constructorArguments }) => {
      const block = await findCreationBlock(session.provider, address, startBlock);
      return [key, { address, block, arguments: constructorArguments }] as const;
    }),
  );
  return recordOf({
    network: session.network,
    chainId: Number(session.chainId),
    terms,
    label,
    contracts: Object.fromEntries(contracts) as DeploymentRecord["contracts"],
    compiler: compilerOf(session),
    commit: currentCommit(),
  });
}

// What the bytecode depends on. Which outputs the compiler was asked for is not part of that.
function compilerOf({ hre }: Session): DeploymentRecord["compiler"] {
  const compiler = hre.config.solidity.profiles.default?.compilers[0];
  if (!compiler) throw new Error("the Hardhat configuration names no compiler");
  const { outputSelection: _, ...settings } = compiler.settings;
  return { version: compiler.version, settings };
}
