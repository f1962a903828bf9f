import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { encodeErrorResult, parseAbi } from "viem";
import { afterEach, expect, it } from "vitest";
import { createRpcClient } from "./createRpcClient.ts";
import { JsonRpcError } from "./jsonRpc.ts";

const CONTRACT = "0x00000000000000000000000000000000000c0de1";
const LOOKUP = parseAbi([
  "error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData)",
]);

let close = async () => {};
afterEach(() => close());

it("a contract sends nobody from here to an address of its choice (ERC-3668)", async () => {
  let visits = 0;
  const inside = createServer((_, response) => {
    visits += 1;
    response.end('{"data":"0x"}');
  });
  await new Promise<void>((resolve) => inside.listen(0, "127.0.0.1", resolve));
  close = () => new Promise((resolve) => inside.close(() => resolve()));
  const url = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/latest/meta-data/{data}`;
  const data = encodeErrorResult({ abi: LOOKUP, args: [CONTRACT, [url], "0x", "0x00000000", "0x"] });
  const client = createRpcClient({
    read: async () => {
      throw new JsonRpcError({ code: 3, message: "execution reverted", data });
    },
  });
  await expect(client.call({ to: CONTRACT, data: "0x" })).rejects.toThrow();
  expect(visits).toBe(0);
});
