import { id, ZeroHash } from "ethers";
import { mined } from "../../scripts/world/mined.ts";
import type { VoucherChannels } from "../../typechain-types/bench/contracts/VoucherChannels.ts";
import { VoucherChannels__factory } from "../../typechain-types/index.ts";
import type { Marketplace } from "./openMarketplace.ts";
import { PAYER_TOTAL, PAYERS, workloadRows } from "./workload.ts";

const VOUCHER = {
  Voucher: [
    { name: "channelId", type: "bytes32" },
    { name: "maxClaimableAmount", type: "uint128" },
  ],
};

type Channel = VoucherChannels.ChannelConfigStruct;
type Opened = { payer: Marketplace["payers"][number]; channel: Channel; channelId: string; amount: bigint };

const ESCROW = 10n * PAYER_TOTAL;

// What x402's batch-settlement scheme costs for the same workload: a claim on every channel in one transaction. The payers are
// charged once there is a channel for each receiver that they use: for each of their tools, or for the platform alone, which then
// has yet to pay the developers. The second claim is measured, as with the settlement.
export async function measureX402Batch(market: Marketplace, receivers: "tools" | "platform"): Promise<number> {
  const { usdc, operator, payers, chainId } = market;
  const channels = await new VoucherChannels__factory(operator).deploy();
  await mined(channels.deploymentTransaction());
  const verifyingContract = await channels.getAddress();
  const domain = { name: "x402 Batch Settlement", version: "1", chainId, verifyingContract };
  const charged = payers.slice(0, PAYERS);
  const rows = workloadRows(charged.map(({ address }) => address));

  const open: Opened[] = [];
  for (const [i, payer] of charged.entries()) {
    await mined(usdc.connect(payer).approve(channels, ESCROW * BigInt(market.toolIds.length)));
    const tools = rows[i]?.lines ?? [];
    const shares = receivers === "platform" ? [{ toolIndex: 0, amount: PAYER_TOTAL }] : tools;
    for (const { toolIndex, amount } of shares) {
      const { payout } = await market.staking.tool(market.toolIds[toolIndex] ?? "0x");
      const channel = {
        payer: payer.address,
        payerAuthorizer: payer.address,
        receiver: receivers === "platform" ? operator.address : payout,
        receiverAuthorizer: operator.address,
        token: await usdc.getAddress(),
        withdrawDelay: 86_400n,
        salt: receivers === "platform" ? ZeroHash : id(`channel ${toolIndex}`),
      };
      await mined(channels.connect(payer).deposit(channel, ESCROW));
      open.push({ payer, channel, channelId: await channels.channelIdOf(channel), amount });
    }
  }

  const claim = async (round: bigint) => {
    const claims = [];
    for (const { payer, channel, channelId, amount } of open) {
      const voucher = { channel, maxClaimableAmount: round * amount };
      const signed = { channelId, maxClaimableAmount: voucher.maxClaimableAmount };
      const signature = await payer.signTypedData(domain, VOUCHER, signed);
      claims.push({ voucher, signature, totalClaimed: voucher.maxClaimableAmount });
    }
    return mined(channels.connect(operator).claim(claims));
  };
  await claim(1n);
  return Number((await claim(2n)).gasUsed);
}
