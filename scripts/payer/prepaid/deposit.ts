import { hexlify, randomBytes, TypedDataEncoder } from "ethers";
import { formatUsd, type MicroUsdc, microUsdc } from "../../../settlement/domain/money.ts";
import { parseAmount } from "../../command/arguments.ts";
import { CommandError } from "../../command/CommandError.ts";
import { command } from "../../command/command.ts";
import { type Deployment, openDeployment } from "../../command/openDeployment.ts";
import { type CommonArguments, type Session, timeOf } from "../../command/session.ts";
import { report, send } from "../../command/transaction/send.ts";

const VALID_SECONDS = 3_600n;

const AUTHORIZATION_TYPES = {
  ReceiveWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
};

// `deposit`: pays in advance, in one transaction and without touching the spending cap (EIP-3009).
export default command<CommonArguments & { amount: string }>(async (args, session) => {
  const amount = parseAmount("the amount", args.amount);
  if (amount === 0n) throw new CommandError("the amount is 0: name how much to deposit, in USDC");
  const deployment = await openDeployment(session);
  const { router, addresses, usdc } = deployment;
  const payer = (await session.signer()).address;
  const balance = microUsdc(await usdc.balanceOf(payer));
  if (balance < amount) throw new CommandError(`${payer} has ${formatUsd(balance)} USDC: deposit less`);
  const data = router.interface.encodeFunctionData(
    "depositWithAuthorization",
    await authorize(session, deployment, amount),
  );
  const receipts = await send(session, {
    sentence: `Deposit ${formatUsd(amount)} USDC of ${payer} in the router, to be drawn on by what is settled.`,
    calls: [{ title: `deposit ${formatUsd(amount)} USDC`, to: addresses.router, data }],
  });
  const prepaid = formatUsd(microUsdc((await router.prepaidOf(payer)).balance));
  report(session, receipts, `The prepaid balance is now ${prepaid} USDC.`, { payer, prepaidUsd: prepaid });
});

async function authorize(session: Session, { usdc, addresses, record }: Deployment, value: MicroUsdc) {
  const signer = await session.signer();
  const [name, version, separator, now] = await Promise.all([
    usdc.name(),
    usdc.version(),
    usdc.DOMAIN_SEPARATOR(),
    timeOf(session),
  ]);
  const domain = { name, version, chainId: session.chainId, verifyingContract: record.usdc };
  if (TypedDataEncoder.hashDomain(domain) !== separator) {
    throw new CommandError(`the token at ${record.usdc} does not sign as USDC does: it takes no deposit this way`);
  }
  const [validAfter, validBefore, nonce] = [0n, now + VALID_SECONDS, hexlify(randomBytes(32))];
  const message = { from: signer.address, to: addresses.router, value, validAfter, validBefore, nonce };
  const signature = await signer.signTypedData(domain, AUTHORIZATION_TYPES, message);
  return [signer.address, value, validAfter, validBefore, nonce, signature] as [
    string,
    bigint,
    bigint,
    bigint,
    string,
    string,
  ];
}
