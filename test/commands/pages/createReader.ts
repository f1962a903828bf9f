import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { expect } from "vitest";
import { startProgram } from "../../../scripts/process/startProgram.ts";
import type { Chain } from "../chain.ts";
import type { ResidentHardhat } from "./residentHardhat.ts";

// The pages are run as a reader would run them: every `sh` block word for word, with a yes to every question. A block
// marked `refused` must fail. The lines of the `text` block that follows must be in the output.

type Block = { script: string; refused: boolean; shown: string[] };

export type Reader = {
  // Where the reader is, with the files that the page writes and reads.
  folder: string;
  // Follows a page from its first block to its last. What happens in between, and is not the reader's doing, happens in `before`.
  walk(
    page: string,
    env?: NodeJS.ProcessEnv,
    options?: { before?: (script: string) => Promise<void> | void },
  ): Promise<void>;
  leave(): void;
};

// Each command is a program, as for a reader, unless there is a resident Hardhat to run them.
export function createReader(chain: Chain, resident?: ResidentHardhat): Reader {
  // Inside the project, so that npx and Hardhat find it, but where files that a page writes are in nobody's way.
  mkdirSync("cache", { recursive: true });
  const workplace = mkdtempSync(resolve("cache", "docs-"));
  const PATH = makePath(workplace, resident);

  async function runScript(script: string, env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
    const program = startProgram("bash", ["-c", `yes | bash -euo pipefail -c "$SCRIPT"`], {
      cwd: workplace,
      env: {
        ...process.env,
        NO_COLOR: "1",
        PATH,
        LOCAL_RPC_URL: chain.url,
        DEPLOYMENTS_FOLDER: join(chain.folder, "deployments"),
        SCRIPT: script,
        ...env,
      },
    });
    const { code } = await program.ended;
    return { code, output: program.output() };
  }

  return {
    folder: workplace,
    async walk(page, env = {}, { before } = {}) {
      for (const { script, refused, shown } of blocksOf(page)) {
        await before?.(script);
        const { code, output } = await runScript(script, env);
        const story = `docs/${page}.md:\n${script}\n${output}`;
        expect(code === 0, story).toBe(!refused);
        const lines = output.split("\n");
        for (const line of shown) expect(lines, story).toContain(line);
      }
    },
    leave: () => rmSync(workplace, { recursive: true, force: true }),
  };
}

// Where a reader's shell finds its programs: with what npx does with one that is installed, without the time that npm takes to
// find out that it is.
export function makePath(workplace: string, resident?: ResidentHardhat): string {
  const bin = join(workplace, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "npx"), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  resident?.install(join(bin, "hardhat"));
  return [bin, resolve("node_modules", ".bin"), process.env.PATH].join(delimiter);
}

export function blocksOf(page: string): Block[] {
  const text = readFileSync(join("docs", `${page}.md`), "utf8");
  const blocks: Block[] = [];
  for (const [, kind, body = ""] of text.matchAll(/^```(sh refused|sh|text)\n(.*?)^```$/gms)) {
    if (kind !== "text") blocks.push({ script: body, refused: kind === "sh refused", shown: [] });
    else blocks.at(-1)?.shown.push(...body.trimEnd().split("\n"));
  }
  return blocks;
}
