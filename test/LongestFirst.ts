import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Files that take half a minute and more. Whatever begins last decides when all ends, so these begin first: those that wait
// before those that compute, because others compute while they wait.
const LONG = [
  "test/faults/marketplace.test.ts",
  "test/simulator/simulator.test.ts",
  "test/commands/",
  "test/faults/",
  "test/local/start/",
  "test/simulator/",
  "test/console/",
  "marketplace/query/interpreter/",
  "test/local/",
  "test/marketplace/",
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
