import type { HardhatConfig } from "hardhat/types/config";
import type { HardhatPlugin } from "hardhat/types/plugins";

// Hardhat compiles together what has one and the same object of settings, and makes an object for each file that it is told to
// treat differently. The Solidity tests then took twenty runs of the compiler, each with the same contracts in it. Here they
// share the first one's object, and take one run.
export const oneTestBuild: HardhatPlugin = {
  id: "one-test-build",
  hookHandlers: {
    config: async () => ({
      default: async () => ({
        async resolveUserConfig(userConfig, resolveVariable, next) {
          const config = await next(userConfig, resolveVariable);
          for (const profile of Object.values(config.solidity.profiles)) shareSettings(profile.overrides);
          return config;
        },
      }),
    }),
  },
};

type Overrides = HardhatConfig["solidity"]["profiles"][string]["overrides"];

// All of them say the same: the tests are the only files that are treated differently.
function shareSettings(overrides: Overrides): void {
  const [first] = Object.values(overrides);
  if (first === undefined) return;
  for (const file of Object.keys(overrides)) overrides[file] = first;
}
