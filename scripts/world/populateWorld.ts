import { ADMIN_DELAY_SECONDS } from "../protocol/description.ts";
import type { Account, Host, Plan, World } from "./world.ts";

// Lists and stakes the tools, gives the payers USDC, spending caps and daily caps, posts the operators' bonds and admits the
// other operators.
export async function populateWorld<A extends Account>(
  host: Host<A>,
  plan: Plan<A>,
  { usdc, router, staking, bonds, tools, circle, parties: { admin, insurance }, ...world }: World<A>,
): Promise<void> {
  const [routerAddress, stakingAddress, bondsAddress, bond] = await Promise.all([
    router.getAddress(),
    staking.getAddress(),
    bonds.getAddress(),
    bonds.requiredBond(plan.operatorLimit),
  ]);
  await host.giveEther([...world.operators, ...world.payers, ...tools.map(({ developer }) => developer)]);

  const mint = (to: Account, amount: bigint) => usdc.mint.populateTransaction(to.address, amount);
  const mints = [
    ...plan.payers.map(({ account, balance }) => mint(account, balance)),
    ...tools.map(({ developer, stake }) => mint(developer, stake)),
    ...plan.operators.map((operator) => mint(operator, bond)),
    ...(plan.insurance ? [mint(insurance, plan.insurance.balance)] : []),
  ];
  await host.sendAll([{ from: circle, transactions: mints }]);

  const approve = (spender: string, amount: bigint) => usdc.approve.populateTransaction(spender, amount);
  await host.sendAll([
    ...(plan.insurance ? [{ from: insurance, transactions: [approve(routerAddress, plan.insurance.allowance)] }] : []),
    ...plan.payers.map(({ account, allowance, dailyCap = 0n }) => ({
      from: account,
      transactions: [
        approve(routerAddress, allowance),
        ...(dailyCap > 0n ? [router.setDailyCap.populateTransaction(dailyCap)] : []),
      ],
    })),
    ...plan.tools.map(({ developer, salt, price }, i) => {
      const stake = tools[i]?.stake ?? 0n;
      const listing = staking.list.populateTransaction(salt, price, developer.address, stake);
      return { from: developer, transactions: [approve(stakingAddress, stake), listing] };
    }),
    ...plan.operators.map((operator) => ({
      from: operator,
      transactions: [approve(bondsAddress, bond), bonds.post.populateTransaction(operator.address, bond)],
    })),
  ]);
  await admitOperators();

  // The deployer has given everything away, so further operators go the admin's way: announced, and done eight days later.
  async function admitOperators(): Promise<void> {
    const [, ...others] = plan.operators;
    if (others.length === 0) return;
    const calls = others.map(({ address }) =>
      router.interface.encodeFunctionData("setOperatorLimit", [address, plan.operatorLimit]),
    );
    const { manager } = world;
    await host.sendAll([
      { from: admin, transactions: calls.map((call) => manager.schedule.populateTransaction(router, call, 0)) },
    ]);
    await host.provider.send("evm_increaseTime", [ADMIN_DELAY_SECONDS]);
    await host.sendAll([
      { from: admin, transactions: calls.map((call) => manager.execute.populateTransaction(router, call)) },
    ]);
  }
}
