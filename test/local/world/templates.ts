import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// A folder in which the files of one test run share the states of their local chains. It is only made here; the first who
// wants a world builds it, so that a failure is that file's failure.
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "worlds-"));
  process.env.WORLD_TEMPLATES = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
