import { type Mutation, vitest } from "../mutation.ts";

const deploy = (named: string) => vitest("test/commands/deploy.test.ts", named);

export const scriptMutations: readonly Mutation[] = [
  {
    bug: "A deployment leaves the deployer an admin",
    file: "scripts/deploy/description.ts",
    find: '      manager.encodeFunctionData("renounceRole", [ROLES.admin, deployer]),\n',
    replace: '      manager.encodeFunctionData("labelRole", [ROLES.adjudicator, deployer]),\n',
    caughtBy: deploy("leaves the deployer no role"),
  },
  {
    bug: "The admin acts without its eight days",
    file: "scripts/deploy/description.ts",
    find: "[ROLES.admin, parties.admin, ADMIN_DELAY_SECONDS]",
    replace: "[ROLES.admin, parties.admin, 0]",
    caughtBy: deploy("leaves the deployer no role"),
  },
  {
    bug: "The check of a deployment overlooks an operator that nobody recorded",
    file: "scripts/deploy/findDifferences.ts",
    find: "new Set([...Object.keys(operatorLimits), ...everNamed])",
    replace: "new Set([...Object.keys(operatorLimits), ...everNamed.slice(0, 0)])",
    caughtBy: deploy("that the record does not name"),
  },
  {
    bug: "A deployment goes on with the deployer in a role",
    file: "scripts/deploy/deploy.ts",
    find: "if (parties[role] !== deployer) continue;",
    replace: 'if (parties[role] !== deployer || role !== "admin") continue;',
    caughtBy: deploy("would keep a role"),
  },
];
