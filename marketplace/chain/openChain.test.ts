import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { concatHex, encodeErrorResult, type Hex, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ScriptedRpc, startScriptedRpc } from "../../settlement/chain/rpc/testing/scriptedRpc.ts";
import { openChain } from "./openChain.ts";

const CHAIN_ID = 8453;
const NOBODY = "0x0000000000000000000000000000000000000001";
const LOOKUP = parseAbi([
  "error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData)",
]);
// With which a signature ends that brings a delegation along (ERC-8010).
const WITH_DELEGATION: Hex = `0x${"8010".repeat(16)}`;

describe("a signature that no key has made", () => {
  let node: ScriptedRpc;
  let inside: Server;
  let visits = 0;

  beforeEach(async () => {
    visits = 0;
    inside = createServer((_, response) => {
      visits += 1;
      response.end('{"data":"0x"}');
    });
    await new Promise<void>((resolve) => inside.listen(0, "127.0.0.1", resolve));
  });
  afterEach(async () => {
    await node?.stop();
    inside.closeAllConnections();
    await new Promise((resolve) => inside.close(resolve));
  });

  const verify = (signature: Hex, address: Hex) =>
    openChain({ chainId: CHAIN_ID, rpcUrls: [node.url], router: NOBODY }).verifyContract({
      address,
      message: "hello",
      signature,
    });

  it("sends nobody to an address of its maker's choice, whatever the account's code says", async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const delegation = await account.signAuthorization({ address: NOBODY, chainId: CHAIN_ID, nonce: 0 });
    const url = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/latest/meta-data/{data}`;
    const revert = encodeErrorResult({ abi: LOOKUP, args: [account.address, [url], "0x", "0x00000000", "0x"] });
    node = await startScriptedRpc(({ method }) => {
      if (method === "eth_chainId") return { kind: "result", result: "0x2105" };
      if (method === "eth_getCode") return { kind: "result", result: concatHex(["0xef0100", NOBODY]) };
      return { kind: "error", code: 3, message: "execution reverted", data: revert };
    });
    expect(await verify(withDelegation("0x1234", delegation), account.address)).toBe(false);
    expect(visits).toBe(0);
  });

  it("is wrong if it ends like one with a delegation and has none, and nobody is asked about it", async () => {
    node = await startScriptedRpc(({ method }) =>
      method === "eth_chainId" ? { kind: "result", result: "0x2105" } : { kind: "error", code: 3, message: "no" },
    );
    expect(await verify(WITH_DELEGATION, NOBODY)).toBe(false);
    expect(await verify(concatHex(["0x12", WITH_DELEGATION]), NOBODY)).toBe(false);
    expect(node.asked).toEqual([]);
  });
});

const word = (value: bigint | number | Hex) => BigInt(value).toString(16).padStart(64, "0");

// The form of ERC-8010: the signature, what the account has delegated, how long that is, and the end.
function withDelegation(
  signature: Hex,
  {
    chainId,
    nonce,
    r,
    s,
    yParity = 0,
  }: { chainId: number; nonce: number; r: Hex; s: Hex; yParity?: number | undefined },
): Hex {
  const words = [chainId, NOBODY, nonce, yParity, r, s, NOBODY, 8 * 32, 0] as const;
  const suffix: Hex = `0x${words.map(word).join("")}`;
  const length: Hex = `0x${word(words.length * 32)}`;
  return concatHex([signature, suffix, length, WITH_DELEGATION]);
}
