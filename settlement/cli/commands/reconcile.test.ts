import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { encodeSettle, NO_BATCH } from "../../chain/router/settleCall.ts";
import { reconcile } from "./reconcile.ts";

const output = { say: () => {}, progress: () => {}, environment: {} };
const run = (calldata: string) => async () => reconcile.run({ positionals: [], values: { calldata }, output });

it("calldata that cannot be read, or is none, is said by its option before anything is opened", async () => {
  const folder = mkdtempSync(join(tmpdir(), "calldata-"));
  try {
    await expect(run(join(folder, "none"))).rejects.toThrow(
      /^--calldata: .*none cannot be read \(ENOENT\); name a file/,
    );
    await expect(run(folder)).rejects.toThrow(/^--calldata: .* cannot be read \(EISDIR\)/);
    writeFileSync(join(folder, "words"), "0x12\nwords\n");
    await expect(run(join(folder, "words"))).rejects.toThrow(/has a line that is not 0x and digits$/);
    const settle = encodeSettle({ previous: NO_BATCH, batchId: NO_BATCH, toolIds: [], rows: [] });
    for (const [name, line] of Object.entries({
      another: "0x095ea7b3",
      half: settle.slice(0, 80),
      odd: `${settle}0`,
    })) {
      writeFileSync(join(folder, name), `${settle}\n${line}\n`);
      await expect(run(join(folder, name))).rejects.toThrow(/has a line that is not the calldata of settle; take the/);
    }
    // An explorer may write it in capitals.
    writeFileSync(join(folder, "capitals"), settle.toUpperCase().replace("0X", "0x"));
    await expect(run(join(folder, "capitals"))).rejects.not.toThrow(/--calldata/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
