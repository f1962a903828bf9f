// Starts a program of this project. It is plain JavaScript, so that a Node which cannot run TypeScript can say so.
const OLDEST = 24;
const version = process.versions.node;

export async function launch(load) {
  if (Number(version.split(".")[0]) < OLDEST) {
    console.error(
      `This needs Node ${OLDEST} or newer and runs on Node ${version}: install a newer one from nodejs.org.`,
    );
    process.exitCode = 1;
  } else {
    try {
      await load();
    } catch (error) {
      if (error?.code !== "ERR_MODULE_NOT_FOUND" || !error.message.startsWith("Cannot find package")) throw error;
      console.error("The dependencies are not installed: run npm ci --omit=dev first.");
      process.exitCode = 1;
    }
  }
}
