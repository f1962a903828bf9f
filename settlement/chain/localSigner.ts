import { type Hex, keccak256 } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Signer } from "./signer.ts";

// Signs in this process. The same transaction always gets the same bytes: signatures are deterministic (RFC 6979).
export function createLocalSigner(privateKey: Hex): Signer {
  const account = privateKeyToAccount(privateKey);
  return {
    address: account.address,
    async sign({ calldata, gasLimit, ...transaction }) {
      const raw = await account.signTransaction({ ...transaction, type: "eip1559", data: calldata, gas: gasLimit });
      return { raw, txHash: keccak256(raw) };
    },
  };
}
