import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createResolve } from "./createResolve.ts";

const TYPE_A = 1;
const HEADER_BYTES = 12;
const ADDRESS = { "good.example": "93.184.216.34", "six.example": null } as const;
const ADDRESS_6 = "20010db8000000000000000000000007";

// A name server that knows two names, keeps what begins with `hang` until it is told to answer, and says of all others that there are
// none.
function startNameServer(held: (() => void)[]): Promise<Socket> {
  const server = createSocket("udp4");
  server.on("message", (query, { port, address }) => {
    const labels: string[] = [];
    let at = HEADER_BYTES;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length).toLowerCase());
      at += 1 + length;
    }
    const name = labels.join(".");
    const isA = query.readUInt16BE(at + 1) === TYPE_A;
    const known = Object.hasOwn(ADDRESS, name);
    const four = known ? ADDRESS[name as keyof typeof ADDRESS] : null;
    const bytes = isA
      ? four && Buffer.from(four.split(".").map(Number))
      : name === "six.example"
        ? Buffer.from(ADDRESS_6, "hex")
        : null;
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(known ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(bytes ? 1 : 0, 6);
    header.writeUInt32BE(0, 8);
    const record = Buffer.from([0xc0, 0x0c, 0, isA ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, bytes ? bytes.length : 0]);
    const question = query.subarray(HEADER_BYTES, at + 5);
    const answer = () =>
      server.send(Buffer.concat([header, question, ...(bytes ? [record, bytes] : [])]), port, address);
    if (name.startsWith("hang")) held.push(answer);
    else answer();
  });
  return new Promise((resolve) => server.bind(0, "127.0.0.1", () => resolve(server)));
}

describe("names of tools", () => {
  const held: (() => void)[] = [];
  let server: Socket;
  let resolve: ReturnType<typeof createResolve>;
  const ask = (timeoutMs: number) => {
    const { port } = server.address() as AddressInfo;
    return createResolve({ servers: [`127.0.0.1:${port}`], timeoutMs });
  };
  beforeAll(async () => {
    server = await startNameServer(held);
    resolve = ask(60_000);
  });
  afterAll(() => void server?.close());

  it("lead to all addresses of both kinds, and to none if there is none", async () => {
    expect(await resolve("good.example")).toEqual([{ address: "93.184.216.34", family: 4 }]);
    expect(await resolve("six.example")).toEqual([{ address: "2001:db8::7", family: 6 }]);
    await expect(resolve("nobody.example")).rejects.toMatchObject({ code: "ENOTFOUND" });
  });

  it("whose name servers do not answer keep nobody else's waiting", async () => {
    let ended = 0;
    const hanging = Array.from({ length: 64 }, (_, i) => resolve(`hang${i}.example`).finally(() => (ended += 1)));
    const outcomes = Promise.allSettled(hanging);
    // The system's own resolver has four places for everything that the process asks.
    while (held.length < 2 * hanging.length) await once(server, "message");
    expect(await resolve("good.example")).toHaveLength(1);
    expect(ended).toBe(0);
    for (const answer of held.splice(0)) answer();
    expect((await outcomes).every(({ status }) => status === "rejected")).toBe(true);
  });

  it("are given up after a while", async () => {
    await expect(ask(20)("hang.example")).rejects.toMatchObject({ code: "ETIMEOUT" });
  });
});
