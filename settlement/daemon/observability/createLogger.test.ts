import { expect, it } from "vitest";
import { createLogger } from "./createLogger.ts";

const API_KEY = `sk_live_${"aB3-_".repeat(8)}xyz`;

function linesOf(secrets: string[], write: (log: ReturnType<typeof createLogger>["log"]) => void): string {
  const lines: string[] = [];
  const { log } = createLogger({ level: "trace", secrets, out: { write: (line) => void lines.push(line) } });
  write(log);
  return lines.join("");
}

it("no secret of the configuration leaves, wherever it got in", () => {
  const secret = 'a "quoted" secret';
  const lines = linesOf([secret, "another"], (log) => {
    log.info({ deep: { deeper: [secret] } }, `message with ${secret}`);
    log.error({ err: new Error(`error with ${secret}`, { cause: new Error("another cause") }) }, "failed");
  });
  expect(lines).not.toContain("quoted");
  expect(lines).not.toContain("another");
  expect(lines.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(4);
});

it("no API key leaves, though nobody listed it", () => {
  const lines = linesOf([], (log) => log.info({ key: API_KEY }, `Bearer ${API_KEY}`));
  expect(lines).not.toContain("sk_live_");
});

it("headers are left out whole", () => {
  const lines = linesOf([], (log) =>
    log.info({ req: { headers: { authorization: "Bearer x", cookie: "y=z" } } }, "asked"),
  );
  expect(lines).not.toContain("Bearer");
  expect(lines).not.toContain("y=z");
});
