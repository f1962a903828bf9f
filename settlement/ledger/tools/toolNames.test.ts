import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ledger } from "../ledger.ts";
import { ledgers, type Store } from "../testing/backends.ts";
import { toolOf } from "../testing/fixtures.ts";

describe.each(ledgers)("names of tools in $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
  });
  afterEach(() => store.remove());

  it("are listed in their order, and the newest name of a tool counts", async () => {
    await ledger.nameTool(toolOf(1), "Weather", 1);
    await ledger.nameTool(toolOf(2), "Maps", 2);
    await ledger.nameTool(toolOf(1), "Atlas", 3);
    const [atlas, maps] = [
      { toolId: toolOf(1), name: "Atlas" },
      { toolId: toolOf(2), name: "Maps" },
    ];
    expect(await ledger.listToolNames(10)).toEqual([atlas, maps]);
    expect(await ledger.listToolNames(1)).toEqual([atlas]);
    expect(await ledger.findToolName(toolOf(1))).toBe("Atlas");
    expect(await ledger.findToolName(toolOf(3))).toBeNull();
  });
});
