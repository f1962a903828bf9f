import type { Check } from "./check.ts";
import { contractsAreBuilt } from "./contractsAreBuilt.ts";
import { command, hardhatTests, proofs, vitest } from "./outcomes.ts";

const one = () => 1;
const allButOne = (available: number) => Math.max(1, available - 1);

// One thread: each of several would work out for itself the types that all of them need, and the cores have other work.
const TSC = ["--noEmit", "--singleThreaded"] as const;

const BUILD = "generated types and ABIs are those of the contracts";

// Every check of the repository, in the order in which they start as cores become free. `filters` are names of files, or
// parts of them, to which the service tests are limited.
export function checksOf(filters: readonly string[] = []): Check[] {
  return [
    // The longest of those that keep one core busy starts first.
    { name: BUILD, groups: ["contracts", "service"], cores: one, run: contractsAreBuilt },
    {
      name: "TypeScript format and lint",
      groups: ["lint"],
      cores: one,
      run: command("biome", "ci", "--error-on-warnings", "."),
    },
    {
      name: "Solidity format",
      groups: ["lint"],
      cores: one,
      run: command("prettier", "--check", "--log-level", "warn", "{contracts,bench,test}/**/*.sol"),
    },
    {
      name: "Solidity lint",
      groups: ["lint"],
      cores: one,
      run: command("solhint", "--disc", "--max-warnings", "0", "{contracts,bench}/**/*.sol"),
    },
    {
      name: "licences, hashes and install scripts of dependencies",
      groups: ["lint"],
      cores: one,
      run: command("node", "scripts/checks/dependencies/check.ts"),
    },
    {
      name: "types of the console",
      groups: ["types"],
      cores: one,
      run: command("tsc", ...TSC, "-p", "settlement/console/app"),
    },
    {
      name: "formal proofs, and their refutation of broken twins",
      groups: ["contracts"],
      // Beside the compiler, which takes as long.
      cores: allButOne,
      run: proofs("test/formal/prove.ts"),
    },
    {
      name: "service tests",
      groups: ["service"],
      after: BUILD,
      // They wait as much as they compute. What is left to do computes meanwhile, and they have all cores to themselves afterwards.
      cores: allButOne,
      isShownLive: true,
      run: vitest(...filters),
    },
    // The types of the contracts are generated while they are built.
    { name: "types", groups: ["types"], after: BUILD, cores: one, run: command("tsc", ...TSC) },
    {
      name: "contract invariants and fuzz tests",
      groups: ["contracts"],
      after: BUILD,
      cores: one,
      run: hardhatTests("solidity", "--no-compile"),
    },
    {
      name: "contract tests",
      groups: ["contracts"],
      after: BUILD,
      cores: one,
      run: hardhatTests("mocha", "--no-compile"),
    },
  ];
}
