import { readFileSync } from "node:fs";
import { getAddress, isAddress, ZeroAddress } from "ethers";
import { z } from "zod";
import { formatUsd, InvalidAmountError, microUsdc, parseUsd } from "../../../settlement/domain/money.ts";
import type { IToolStaking } from "../../../typechain-types/contracts/interfaces/IToolStaking.ts";
import { required } from "../../command/arguments.ts";
import { CommandError } from "../../command/CommandError.ts";
import type { Row } from "../../command/output.ts";

const address = z
  .string()
  .refine((text) => isAddress(text), "not an address")
  .transform(getAddress);

const amount = z.string().transform((text, context) => {
  try {
    return parseUsd(text);
  } catch (error) {
    if (!(error instanceof InvalidAmountError)) throw error;
    context.addIssue({ code: "custom", message: error.message });
    return z.NEVER;
  }
});

const termsSchema = z.strictObject({
  amountUsd: amount,
  evidenceHash: z.string().regex(/^0x[0-9a-f]{64}$/i, "0x and 64 hexadecimal digits"),
  reporter: address.optional(),
  refunds: z.array(z.strictObject({ payer: address, amountUsd: amount })),
});

// What a slash takes and for whom, as the adjudicator writes it down; the same file proposes and executes it.
export function readSlashTerms(path: string | undefined): IToolStaking.SlashTermsStruct & {
  refunds: { payer: string; amount: bigint }[];
} {
  const file = required("--terms", path);
  const parsed = termsSchema.safeParse(parseFile(file));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new CommandError(
      `the terms in ${file} do not say what to slash: ${issue?.path.join(".")} is wrong (${issue?.message})`,
    );
  }
  const { amountUsd, evidenceHash, reporter, refunds } = parsed.data;
  return {
    amount: amountUsd,
    evidenceHash,
    reporter: reporter ?? ZeroAddress,
    refunds: refunds.map(({ payer, amountUsd }) => ({ payer, amount: amountUsd })),
  };
}

export const refundRows = (refunds: readonly { payer: string; amount: bigint }[]): Row[] =>
  refunds.map(({ payer, amount }) => ["refund", `${formatUsd(microUsdc(amount))} USDC to ${payer}`]);

function parseFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new CommandError(
      `the terms in ${file} cannot be read as JSON: ${error instanceof Error ? error.message : error}`,
    );
  }
}
