import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FaultGroup } from "./cases/faultCase.ts";
import { runCase } from "./runCase.ts";
import { type Ground, startGround } from "./stage/stage.ts";

// A test for every case of a group, named after what is claimed of it.
export function testFaults({ name, cases }: FaultGroup): void {
  describe(`faults: ${name}`, () => {
    let ground: Ground;
    beforeAll(async () => {
      ground = await startGround();
    });
    afterAll(() => ground?.stop());

    for (const one of cases) {
      it(`${one.number}: ${one.claim}`, async () => {
        expect((await runCase(ground, one)).balances.lost).toBe("nothing");
      });
    }
  });
}
