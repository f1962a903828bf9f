// What cannot share a process with others: Hardhat, which reads the address of a file's node once and gives assertions of everybody
// beside it another meaning, and whoever asks for an OpenAPI document, because the schemas of the daemon and of the marketplace,
// which are two programs elsewhere, have names in common.
export const ALONE = [
  "test/commands/**/*.test.ts",
  "test/marketplace/accounts.test.ts",
  "test/marketplace/openApi.test.ts",
  "test/marketplace/unauthenticated.test.ts",
  "test/local/court/anotherAccount.test.ts",
  "test/local/court/watch.test.ts",
  "test/local/daemon/observability.test.ts",
  "settlement/daemon/routes/docs.test.ts",
];
