import { expect, it } from "vitest";
import { PRELOAD, startProgram } from "../../scripts/process/startProgram.ts";

const { PATH } = process.env;
const INSTALLED = { NODE_OPTIONS: "" };

// What a program sees that a test starts in this folder.
async function seen(script: string, env: NodeJS.ProcessEnv = {}): Promise<unknown> {
  const args = ["--input-type=module", "--no-warnings", "-e", `console.log(JSON.stringify(${script}))`];
  const { code, stdout, stderr } = await startProgram("node_modules/.bin/node", args, { env: { PATH, ...env } }).ended;
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

it("a program has its packages from this run, and its own code from where it stands", async () => {
  const where = `["viem", "fastify", "./settlement/domain/money.ts"].map((name) => import.meta.resolve(name))`;
  const folder = new URL(".", process.env[PRELOAD]).href;
  const money = new URL("../../settlement/domain/money.ts", import.meta.url).href;
  expect(await seen(where)).toEqual([`${folder}viem.mjs`, `${folder}fastify.mjs`, money]);
  expect(await seen(where, INSTALLED)).toEqual([
    expect.stringContaining("/node_modules/viem/"),
    expect.any(String),
    money,
  ]);
});

it("what a package exports is the same as of what is installed", async () => {
  const packages = ["viem", "viem/accounts", "fastify", "pg", "zod", "pino", "ajv", "jose", "undici"];
  const exported = `Object.fromEntries(await Promise.all(${JSON.stringify(packages)}.map(async (name) => {
    const kinds = Object.entries(await import(name)).map(([key, value]) => key + ": " + typeof value);
    return [name, kinds.filter((kind) => !/^(module.exports|__esModule):/.test(kind)).sort()];
  })))`;
  expect(await seen(exported)).toEqual(await seen(exported, INSTALLED));
});
