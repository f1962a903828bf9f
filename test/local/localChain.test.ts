import { describe, expect, it } from "vitest";
import { startLocalChain } from "./localChain.ts";

describe("the local chain", () => {
  it("has every tool payable, every payer solvent and every operator in office", async () => {
    const chain = await startLocalChain({ tools: 3, payers: 5, operators: 2, payerBalance: 7_000_000n });
    try {
      const payees = await chain.staking.payees(chain.tools.map(({ toolId }) => toolId));
      expect(payees).toEqual(chain.tools.map(({ developer }) => developer.address));
      const spendable = await chain.router.spendableMany(chain.payers.map(({ address }) => address));
      expect(spendable.map(({ amount }) => amount)).toEqual(chain.payers.map(() => 7_000_000n));
      for (const { address } of chain.operators) {
        expect((await chain.router.operatorLimit(address)).left).toBe(1_000_000_000_000n);
      }
      expect((await chain.router.spendable(chain.parties.insurance)).amount).toBe(10_000_000_000n);
    } finally {
      await chain.stop();
    }
  });
});
