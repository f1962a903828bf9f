// Whoever settles decides how large the calldata of a batch is, and the court is shown all of it again. However large a batch
// is that the router accepts, a transaction can contest it and prove a double charge in it.
import { expect } from "chai";
import { concat, dataLength, dataSlice, toBeHex, zeroPadValue } from "ethers";
import { createMerkleTree } from "../../../settlement/engine/batch/merkleTree.ts";
import { receiptOf } from "../../../settlement/engine/batch/receipt.ts";
import { DAY, ethers, freshHash, networkHelpers, packBatch, time, usd } from "../fixture.ts";
import { CONTEST_DEPOSIT, courtroom } from "./courtroom.ts";

// The most gas that a transaction may use (EIP-7825).
const MAX_GAS = 2n ** 24n;
const TOO_MANY_ZEROS = 4_000_000;

// Code that calls whom the first word names, with what comes after the second and as many zeros as that says: a transaction has
// room for some 128 KB, the memory of a contract for more.
const PADDING = "0x60403603806040600037602035016000600082600060006000355af16029573d600060003e3d6000fd5b00";
const PADDING_AT = "0x00000000000000000000000000000000000bad0d";

const TAKEN = usd("3");

describe("a batch with as much calldata as the router accepts", () => {
  it("can be contested in one transaction", async () => {
    const { settleLarge, sendPadded, receiptCourt, bonds, usdc, operator, payer } = await hideout();
    const { batchId, call, zeros } = await settleLarge(freshHash());
    await usdc.mint(PADDING_AT, CONTEST_DEPOSIT);
    await sendPadded(
      usdc,
      usdc.interface.encodeFunctionData("approve", [await bonds.getAddress(), CONTEST_DEPOSIT]),
      0,
    );
    const contest = concat([
      receiptCourt.interface.getFunction("contest").selector,
      word(0x40),
      zeroPadValue(payer.address, 32),
      settlementAtTheEnd(operator.address, call, zeros),
    ]);
    await sendPadded(receiptCourt, contest, zeros);
    await time.increase(3 * DAY);
    await receiptCourt.refund(batchId, payer);
    expect(await bonds.creditOf(payer)).to.equal(TAKEN);
  });

  it("can be proven to have charged something twice", async () => {
    const { settleLarge, sendPadded, receiptCourt, bonds, operator, payer, charge, settleCharges, paid, leaf } =
      await hideout();
    const double = charge({ toolId: null, amount: TAKEN });
    const again = { ...double, attempts: 1 };
    const first = await settleCharges([double]);
    const { call, zeros } = await settleLarge(createMerkleTree([leaf(again)]).root);
    const proof = receiptCourt.interface.encodeFunctionData("proveDoubleCharge", [
      paid(first, double),
      { settlement: { operator: operator.address, call: "0x", exceptions: [] }, receipt: receiptOf(again), path: [] },
    ]);
    // The second argument again, with what is large at its end: the place of the settlement, the receipt, no path.
    const second = 4 + Number(dataSlice(proof, 4 + 32, 4 + 64));
    const receipt = dataSlice(proof, second + 32, second + 12 * 32);
    const large = [word(14 * 32), receipt, word(13 * 32), word(0), settlementAtTheEnd(operator.address, call, zeros)];
    await sendPadded(receiptCourt, concat([dataSlice(proof, 0, second), ...large]), zeros);
    expect(await bonds.creditOf(payer)).to.equal(TAKEN);
  });
});

// A thief with the key of an operator, who lets code of its own act for that account (EIP-7702), and a payer with a balance.
async function hideout() {
  const court = await courtroom();
  const { router, usdc, operator, payer, stranger } = court;
  await networkHelpers.setCode(PADDING_AT, PADDING);
  await networkHelpers.setCode(operator.address, concat(["0xef0100", PADDING_AT]));
  await usdc.connect(payer).approve(router, usd("100"));
  await router.connect(payer).deposit(usd("50"));

  const padded = async (to: { getAddress(): Promise<string> }, data: string, zeros: number) =>
    concat([zeroPadValue(await to.getAddress(), 32), word(zeros), data]);

  const sendPadded = async (to: { getAddress(): Promise<string> }, data: string, zeros: number) =>
    stranger.sendTransaction({ to: PADDING_AT, data: await padded(to, data, zeros), gasLimit: MAX_GAS });

  // Takes something from the payer, with as many zeros behind the arguments as can be.
  async function settleLarge(batchId: string) {
    const { toolIds, rows } = packBatch([{ payer, modelCost: TAKEN, prepaid: true }]);
    const head = await router.headOf(operator);
    const call = router.interface.encodeFunctionData("settle", [head, batchId, toolIds, rows]);
    const request = async (zeros: number) => ({
      to: operator.address,
      data: await padded(router, call, zeros),
      gasLimit: MAX_GAS,
    });
    const isAccepted = async (zeros: number) =>
      ethers.provider.call({ ...(await request(zeros)), from: operator.address }).then(
        () => true,
        () => false,
      );
    let [zeros, tooMany] = [0, TOO_MANY_ZEROS];
    while (tooMany - zeros > 1) {
      const half = (zeros + tooMany) >> 1;
      if (await isAccepted(half)) zeros = half;
      else tooMany = half;
    }
    await operator.sendTransaction(await request(zeros));
    expect(await router.settledAt(batchId)).to.not.equal(0n);
    return { batchId, call, zeros };
  }

  return { ...court, settleLarge, sendPadded };
}

const word = (value: number) => toBeHex(value, 32);

// A settlement without exceptions, whose calldata is the last of it, up to the zeros.
const settlementAtTheEnd = (operator: string, call: string, zeros: number) =>
  concat([zeroPadValue(operator, 32), word(0x80), word(0x60), word(0), word(dataLength(call) + zeros), call]);
