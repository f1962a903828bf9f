import { Contract, id, Signature } from "ethers";
import { mined } from "../../scripts/world/mined.ts";
import type { Marketplace } from "./openMarketplace.ts";
import { CALL_PRICE } from "./workload.ts";

const PAYMENTS = 10;

const AUTHORIZATION = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
};

// The token takes the signature as bytes or in parts. The parts are some 400 gas cheaper, so they are what is compared.
const METHOD = "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)";

// What x402's "exact" scheme costs per payment, as the mean of several: the payer signs an EIP-3009 authorization, and a
// facilitator sends it to the token. The payee holds USDC already, and every authorization is new.
export async function measureX402({ usdc, operator, payers, toolIds, staking, chainId }: Marketplace): Promise<number> {
  const verifyingContract = await usdc.getAddress();
  const facilitated = new Contract(verifyingContract, [`function ${METHOD}`], operator).getFunction(METHOD);
  const domain = { name: "USD Coin", version: "2", chainId, verifyingContract };
  const { payout: to } = await staking.tool(toolIds[0] ?? "0x");
  await mined(usdc.mint(to, CALL_PRICE));

  let gas = 0;
  for (const [index, payer] of payers.slice(0, PAYMENTS).entries()) {
    const payment = {
      from: payer.address,
      to,
      value: CALL_PRICE,
      validAfter: 0n,
      validBefore: 2n ** 32n - 1n,
      nonce: id(`payment ${index}`),
    };
    const { v, r, s } = Signature.from(await payer.signTypedData(domain, AUTHORIZATION, payment));
    gas += Number((await mined(facilitated.send(...Object.values(payment), v, r, s))).gasUsed);
  }
  return gas / PAYMENTS;
}
