import { id, type Provider, VoidSigner } from "ethers";
import { nodeAccount, partiesOf, personOf } from "../../world/parties.ts";
import type { Account, Plan } from "../../world/world.ts";
import { FUNDS, PAYERS, TOOLS } from "./people.ts";

// The people of the demo as a world. The operator's key is in the daemon's keystore alone.
export function planMarketplace(provider: Provider, operator: string): Plan<Account> {
  return {
    parties: partiesOf(provider),
    circle: personOf("circle", provider),
    operators: [new VoidSigner(operator, provider)],
    operatorLimit: FUNDS.operatorLimit,
    tools: TOOLS.map(({ example, account, price }) => ({
      developer: nodeAccount(account, provider),
      salt: id(example),
      price,
    })),
    payers: PAYERS.map(({ account, dailyCap }) => ({
      account: nodeAccount(account, provider),
      balance: FUNDS.payerBalance,
      allowance: FUNDS.payerAllowance,
      dailyCap,
    })),
    insurance: { balance: FUNDS.insuranceBalance, allowance: FUNDS.insuranceBalance },
  };
}
