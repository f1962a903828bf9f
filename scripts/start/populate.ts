import { id, parseEther } from "ethers";
import type { DeploymentRecord } from "../../settlement/deployment.ts";
import { ContextRouter__factory, IFiatToken__factory, ToolStaking__factory } from "../../typechain-types/index.ts";
import { mineAll, post, toHex, withImpersonation } from "../local/transact.ts";
import { FUNDS, PARTIES, PAYERS, TOOLS } from "./demo/people.ts";
import type { LocalChain } from "./startChain.ts";

const OPERATOR_WEI = parseEther("10");

// Lists and stakes the tools, and gives the payers USDC, spending caps and, to one of them, a daily cap.
export async function populate(chain: LocalChain, record: DeploymentRecord): Promise<void> {
  const { url, accounts, provider } = chain;
  const { usdc: token, contracts, parties } = record;
  const usdc = IFiatToken__factory.connect(token, provider);
  const staking = ToolStaking__factory.connect(contracts.staking.address, provider);
  const router = ContextRouter__factory.connect(contracts.router.address, provider);
  const accountOf = (position: number) => accounts[position] ?? "";
  const stakes = await Promise.all(TOOLS.map(({ price }) => staking.requiredStake(price)));

  await post(url, [["anvil_setBalance", [parties.operator, toHex(OPERATOR_WEI)]]]);
  await withImpersonation(url, async () => {
    const mint = (to: string, amount: bigint) => usdc.mint.populateTransaction(to, amount);
    const mints = [
      ...PAYERS.map(({ account }) => mint(accountOf(account), FUNDS.payerBalance)),
      ...TOOLS.map(({ account }, i) => mint(accountOf(account), stakes[i] ?? 0n)),
      mint(parties.insurance, FUNDS.insuranceBalance),
    ];
    await mineAll(url, [{ from: accountOf(PARTIES.tokenOwner), transactions: mints }]);
    await mineAll(url, [
      {
        from: parties.insurance,
        transactions: [usdc.approve.populateTransaction(contracts.router.address, FUNDS.insuranceBalance)],
      },
      ...PAYERS.map(({ account, dailyCap }) => ({
        from: accountOf(account),
        transactions: [
          usdc.approve.populateTransaction(contracts.router.address, FUNDS.payerAllowance),
          ...(dailyCap > 0n ? [router.setDailyCap.populateTransaction(dailyCap)] : []),
        ],
      })),
      ...TOOLS.map(({ name, account, price }, i) => ({
        from: accountOf(account),
        transactions: [
          usdc.approve.populateTransaction(contracts.staking.address, stakes[i] ?? 0n),
          staking.list.populateTransaction(id(name), price, accountOf(account), stakes[i] ?? 0n),
        ],
      })),
    ]);
  });
}
