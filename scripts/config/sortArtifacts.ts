import type { HardhatPlugin } from "hardhat/types/plugins";

// Hardhat lists artifacts in whatever order the disk gives them, and the types of the contracts are generated in that order: on
// another machine the same contracts would change committed files. The list that is handed to whoever cleans up is the one that
// everything after it gets, so it is sorted in its place.
export const sortArtifacts: HardhatPlugin = {
  id: "sort-artifacts",
  hookHandlers: {
    solidity: async () => ({
      default: async () => ({
        async onCleanUpArtifacts(context, artifactPaths, next) {
          artifactPaths.sort();
          await next(context, artifactPaths);
        },
      }),
    }),
  },
};
