import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Files that take half a minute and more. Whatever begins last decides when all ends, so these begin first.
const LONG = [
  "test/commands/docs.test.ts",
  "test/commands/",
  "test/simulator/",
  "test/faults/",
  "test/local/start",
  "test/console/",
  "test/local/",
];

// Vitest's own order goes by how long files took the last time, which a fresh clone does not know.
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const path = relative(this.ctx.config.root, moduleId);
      const found = LONG.findIndex((start) => path.startsWith(start));
      return found < 0 ? LONG.length : found;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
