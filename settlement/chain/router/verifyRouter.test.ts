import {
  type Address,
  ContractFunctionExecutionError,
  ContractFunctionRevertedError,
  type PublicClient,
  padHex,
  zeroAddress,
} from "viem";
import { expect, it } from "vitest";
import { SettlementError } from "../../domain/errors.ts";
import { routerAbi } from "./abi.ts";
import { verifyRouter } from "./verifyRouter.ts";

const account = (n: number): Address => padHex(`0x${n}`, { size: 20 });
const [ROUTER, COURT] = [account(1), account(2)];

// A node that answers every question with an account, but for what a test says of the court.
const clientOf = (court: () => Address) =>
  ({
    getCode: async () => "0x01",
    readContract: async ({ functionName }: { functionName: string }) =>
      functionName === "bonds" ? court() : functionName === "court" ? court() : account(3),
  }) as unknown as PublicClient;

const refusing = (cause: Error) => () => {
  throw cause;
};
const asked = { abi: routerAbi, functionName: "bonds" } as const;

it("a router names the court of its receipts, through its bonds", async () => {
  expect(
    await verifyRouter(
      clientOf(() => COURT),
      8453,
      ROUTER,
    ),
  ).toMatchObject({ court: COURT });
});

it("a router of before there were bonds has no court, and neither has one whose court was not named yet", async () => {
  const reverted = new ContractFunctionRevertedError(asked);
  const before = refusing(new ContractFunctionExecutionError(reverted, asked));
  expect(await verifyRouter(clientOf(before), 8453, ROUTER)).toMatchObject({ court: null });
  expect(
    await verifyRouter(
      clientOf(() => zeroAddress),
      8453,
      ROUTER,
    ),
  ).toMatchObject({ court: null });
});

it("an endpoint that does not answer is no router without a court", async () => {
  const away = new SettlementError("chain_unavailable", "no endpoint answers", { retryable: true });
  await expect(verifyRouter(clientOf(refusing(away)), 8453, ROUTER)).rejects.toBe(away);
});
