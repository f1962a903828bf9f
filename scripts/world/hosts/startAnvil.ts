import { createRequire } from "node:module";
import { type Program, startProgram } from "../../process/startProgram.ts";

export type Anvil = Program & { url: string };

export type AnvilOptions = {
  // 0 takes a free one.
  port: number;
  chainId: number;
  // How far the final block is behind the head; a chain that is looked at closely is final after two.
  finalityBlocks?: number;
  arguments?: readonly string[];
};

const FINALITY_BLOCKS = 2;
// Nobody asks for the state of a block that is older than the final one by so many, and anvil would write them all into the home
// folder and leave them there.
const KEPT_BLOCKS = 126;

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

// The program itself and not npm's script around it, which ends before the program does and leaves it behind when it is
// ended in any but two ways.
function anvilProgram(): string {
  const wrapper = createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json");
  const name = `@foundry-rs/anvil-${process.platform}-${ARCHITECTURES[process.arch]}`;
  return createRequire(wrapper).resolve(`${name}/bin/anvil${process.platform === "win32" ? ".exe" : ""}`);
}

export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const { port, chainId, finalityBlocks = FINALITY_BLOCKS } = options;
  const program = startProgram(anvilProgram(), [
    ...["--port", `${port}`, "--chain-id", `${chainId}`],
    // Anvil takes the block two epochs below the head for final.
    ...["--slots-in-an-epoch", `${finalityBlocks / 2}`, "--prune-history", `${finalityBlocks + KEPT_BLOCKS}`],
    ...["--gas-limit", "200000000"],
    ...(options.arguments ?? []),
  ]);
  try {
    const [, address] = await program.printed(/Listening on (\S+)/);
    return { ...program, url: `http://${address}` };
  } catch (error) {
    await program.kill();
    throw error;
  }
}
