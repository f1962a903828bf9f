// Between two steps of something long: whatever else is ready to run in this process goes first. No step should take more than some
// ten milliseconds.
export const letOthersRun = () => new Promise<void>((resolve) => setImmediate(resolve));
