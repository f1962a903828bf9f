import {
  type Address,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  isAddressEqual,
  parseAbi,
  recoverAddress,
  size,
  slice,
} from "viem";
import type { Endpoints } from "../rpc/endpoints.ts";
import { JsonRpcError, revertDataOf } from "../rpc/jsonRpc.ts";

const ERC1271 = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"]);
// `isValidSignature`'s selector in a word of its own.
const ACCEPTED = `0x1626ba7e${"0".repeat(56)}`;

// What the router lets a smart account use: Signatures.CHECK_GAS.
const CHECK_GAS = 100_000n;
const TRANSACTION_GAS = 21_000n;
const BYTE_GAS = 16n;

const SIGNATURE_BYTES = 65;
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

const NEEDS_TOO_MUCH_GAS = /out of gas|outofgas/i;
const REVERTED = /revert/i;

// Whether an account has signed something, as Signatures.sol decides it: the account's own key first, which also signs for an
// account with code (ERC-7702), and then the account's code (ERC-1271), within the same gas.
export async function isSigned(
  endpoints: Pick<Endpoints, "read">,
  { signer, digest, signature }: { signer: Address; digest: Hex; signature: Hex },
): Promise<boolean> {
  if (await isSignedByKey(signer, digest, signature)) return true;
  const data = encodeFunctionData({ abi: ERC1271, functionName: "isValidSignature", args: [digest, signature] });
  const gas = TRANSACTION_GAS + BYTE_GAS * BigInt(size(data)) + CHECK_GAS;
  try {
    const answer = await endpoints.read("eth_call", [{ to: signer, data, gas: `0x${gas.toString(16)}` }, "latest"]);
    return String(answer).slice(0, ACCEPTED.length).toLowerCase() === ACCEPTED;
  } catch (error) {
    // An account that reverts, or needs more than it gets, has not signed.
    if (!(error instanceof JsonRpcError)) throw error;
    const objects = revertDataOf(error) !== undefined || REVERTED.test(error.message);
    if (objects || NEEDS_TOO_MUCH_GAS.test(error.message)) return false;
    throw error;
  }
}

// OpenZeppelin's ECDSA takes one form of each signature: 65 bytes, the lower half of the curve, and 27 or 28.
export async function isSignedByKey(signer: Address, digest: Hex, signature: Hex): Promise<boolean> {
  if (size(signature) !== SIGNATURE_BYTES) return false;
  const v = hexToBigInt(slice(signature, 64, 65));
  if ((v !== 27n && v !== 28n) || hexToBigInt(slice(signature, 32, 64)) > HALF_ORDER) return false;
  try {
    return isAddressEqual(await recoverAddress({ hash: digest, signature }), signer);
  } catch {
    // No point of the curve.
    return false;
  }
}
