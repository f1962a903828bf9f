// Two deployments with the same terms differ in their label alone. It stands apart from the code that uses it because
// Hardhat reads it, with the commands' options, at every start.
export const DEFAULT_LABEL = "context-settlement";
