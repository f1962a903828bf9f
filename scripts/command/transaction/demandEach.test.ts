import { describe, expect, it } from "vitest";
import { CommandError } from "../CommandError.ts";
import { NotConfirmed } from "../confirm.ts";
import { demandEach } from "./demandEach.ts";

describe("what is demanded of the court", () => {
  const demand = async (failures: Record<string, Error>) => {
    const sent: string[] = [];
    const outcome = demandEach(["a", "b", "c"], async (title) => {
      const failure = failures[title];
      if (failure) throw failure;
      sent.push(title);
    });
    return { outcome, sent };
  };

  it("is sent one by one, so that what fails does not keep the rest from being sent", async () => {
    const { outcome, sent } = await demand({
      a: new CommandError("a would fail: it was given back before"),
      b: new Error("gas cap exceeded"),
    });
    expect(await outcome).toEqual({
      sent: 1,
      failed: ["a would fail: it was given back before", "gas cap exceeded"],
    });
    expect(sent).toEqual(["c"]);
  });

  it("is sent no further once the person says no or the node says nothing", async () => {
    for (const failure of [new NotConfirmed(), Object.assign(new Error("gone"), { code: "ECONNREFUSED" })]) {
      const { outcome, sent } = await demand({ b: failure });
      await expect(outcome).rejects.toBe(failure);
      expect(sent).toEqual(["a"]);
    }
  });
});
