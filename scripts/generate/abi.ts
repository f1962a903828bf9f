// Writes the one file of ABIs that the service imports: of each compiled contract only what the service uses. `npm test`
// runs it and fails if the committed file is not what the contracts say.
import { readFileSync, writeFileSync } from "node:fs";

const OUTPUT = "settlement/chain/router/abi.ts";

type Item = { type: string; name?: string };

type Source = { name: string; contract: string; members: readonly string[]; allErrors?: boolean };

const sources: readonly Source[] = [
  {
    name: "routerAbi",
    // The contract and not its interface, because only the contract knows the errors of what it is built from.
    contract: "contracts/ContextRouter.sol/ContextRouter",
    members: [
      "settle",
      "payout",
      "settledAt",
      "batchOf",
      "headOf",
      "spendableMany",
      "prepaidOf",
      "budgetOf",
      "creditOf",
      "operatorLimit",
      "paused",
      "staking",
      "bonds",
      "usdc",
      "BatchSettled",
      "ToolPaid",
      "ChargeFailed",
      "LinesRefused",
      "ToolRefused",
      "Paid",
      "Claimed",
      "PayoutFailed",
    ],
    allErrors: true,
  },
  {
    name: "stakingAbi",
    contract: "contracts/interfaces/IToolStaking.sol/IToolStaking",
    members: ["insurance", "tool", "requiredStake"],
  },
  {
    name: "bondsAbi",
    contract: "contracts/interfaces/IOperatorBonds.sol/IOperatorBonds",
    members: ["court"],
  },
  {
    name: "receiptCourtAbi",
    contract: "contracts/court/ReceiptCourt.sol/ReceiptCourt",
    members: ["answer", "contestOf", "progressOf", "Contested"],
    allErrors: true,
  },
  {
    name: "usdcAbi",
    contract: "contracts/interfaces/IUSDC.sol/IUSDC",
    members: ["balanceOf", "paused", "isBlacklisted"],
  },
];

function abiOf({ name, contract, members, allErrors }: Source): string {
  const { abi } = JSON.parse(readFileSync(`artifacts/${contract}.json`, "utf8")) as { abi: Item[] };
  const missing = members.filter((member) => !abi.some((item) => item.name === member));
  if (missing.length > 0) throw new Error(`${contract} has no ${missing.join(", ")}`);
  const lines = abi
    .filter((item) => (item.name !== undefined && members.includes(item.name)) || (allErrors && item.type === "error"))
    .map((item) => `  ${JSON.stringify(item, withoutSolidityNames)},`);
  return [`export const ${name} = [`, ...lines, "] as const;"].join("\n");
}

// The names of Solidity's own types say nothing to a caller.
const withoutSolidityNames = (key: string, value: unknown) => (key === "internalType" ? undefined : value);

const header = `// Generated from the compiled contracts by scripts/generate/abi.ts. This is the service's only copy of their ABIs.
// biome-ignore-all format: one line is one member of a contract.`;
writeFileSync(OUTPUT, `${[header, ...sources.map(abiOf)].join("\n\n")}\n`);
