import { describe, expect, it } from "vitest";
import { isAllowedAddress } from "./isAllowedAddress.ts";
import { readEndpoint } from "./readEndpoint.ts";

const PUBLIC = ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "2a00:1450:4001:830::200e"];

const PRIVATE = [
  ...["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "169.254.169.254", "0.0.0.0"],
  ...["192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.0.8"],
  // The metadata of Alibaba, of Oracle, and of Azure, which alone looks like anybody's.
  ...["100.100.100.200", "192.0.0.192", "168.63.129.16"],
  // Unspecified, link-local, unique local (the metadata of AWS among them), site-local, multicast.
  ...["::", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1"],
  // IPv4 in other clothes: mapped, compatible, NAT64 of both kinds, translated, 6to4, Teredo.
  ...["::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::10.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::a00:1", "::ffff:0:a00:1"],
  ...["2002:a00:1::", "2001:0:a00:1::"],
  // Documentation, benchmarks, discard.
  ...["2001:db8::1", "2001:2::1", "100::1", "5f00::1"],
  // Assigned to nobody, and so perhaps used inside of somebody's network.
  ...["4000::1", "1::1", "::5:a00:1", "e000::1"],
  // Not addresses.
  ...["", "localhost", "1.1.1.1.1", "fe80::1%eth0"],
];

const LOOPBACK = ["127.0.0.1", "127.1.2.3", "::1"];
// What is on this machine in a form that nobody types by accident.
const DISGUISED_LOOPBACK = ["::ffff:127.0.0.1", "::ffff:7f00:1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"];

describe("addresses", () => {
  it.each(PUBLIC)("%s is public", (address) => {
    expect(isAllowedAddress(address, "public")).toBe(true);
  });

  it.each([...PRIVATE, ...DISGUISED_LOOPBACK])("%s is out of reach, in development too", (address) => {
    expect(isAllowedAddress(address, "public")).toBe(false);
    expect(isAllowedAddress(address, "development")).toBe(false);
  });

  it.each(LOOPBACK)("%s is for development", (address) => {
    expect(isAllowedAddress(address, "public")).toBe(false);
    expect(isAllowedAddress(address, "development")).toBe(true);
  });
});

describe("endpoints", () => {
  const refusal = (endpoint: string, policy: "public" | "development" = "public") => {
    try {
      return readEndpoint(endpoint, policy).href;
    } catch (error) {
      return error instanceof Error ? error.message : error;
    }
  };

  it("are HTTPS with a name or a public address", () => {
    expect(refusal("https://tools.example.com/mcp")).toBe("https://tools.example.com/mcp");
    expect(refusal("https://1.1.1.1:8443/mcp?key=1")).toBe("https://1.1.1.1:8443/mcp?key=1");
    expect(refusal("https://[2606:4700::1111]/")).toBe("https://[2606:4700::1111]/");
  });

  it.each([
    ["http://tools.example.com/mcp", "https"],
    ["ftp://tools.example.com", "https"],
    ["file:///etc/passwd", "https"],
    ["tools.example.com", "no URL"],
    ["https://user:password@tools.example.com", "password"],
    ["https://tools.example.com/#here", "fragment"],
    ["https://127.0.0.1/", "127.0.0.1"],
    ["https://2130706433/", "127.0.0.1"],
    ["https://0x7f.1/", "127.0.0.1"],
    ["https://017700000001/", "127.0.0.1"],
    ["https://127.1/", "127.0.0.1"],
    ["https://１２７.0.0.1/", "127.0.0.1"],
    ["https://[::1]/", "::1"],
    ["https://[::ffff:127.0.0.1]/", "not a public address"],
    ["https://[64:ff9b::169.254.169.254]/", "not a public address"],
    ["https://169.254.169.254/latest/meta-data", "169.254.169.254"],
    ["https://0/", "0.0.0.0"],
    ["https://localhost/", "this machine"],
    ["https://a.localhost/", "this machine"],
    ["https://localhost./", "this machine"],
    ["https://LOCALHOST./", "this machine"],
    ["https://127.0.0.1./", "127.0.0.1"],
    ["https://0177.0.0.01/", "127.0.0.1"],
    ["https://[::ffff:7f00:1]/", "not a public address"],
    ["https://[64:ff9b:1::a9fe:a9fe]/", "not a public address"],
    ["https://127.0.0.1\u3002/", "127.0.0.1"],
    [`https://tools.example.com/${"a".repeat(3_000)}`, "longer"],
  ])("%s is refused", (endpoint, why) => {
    expect(refusal(endpoint)).toContain(why);
  });

  it("in development may be on this machine, without HTTPS, and nowhere else", () => {
    expect(refusal("http://127.0.0.1:3000/mcp", "development")).toBe("http://127.0.0.1:3000/mcp");
    expect(refusal("http://localhost:3000/mcp", "development")).toBe("http://localhost:3000/mcp");
    expect(refusal("http://[::1]:3000/mcp", "development")).toBe("http://[::1]:3000/mcp");
    expect(refusal("http://10.0.0.1/mcp", "development")).toContain("https");
    expect(refusal("https://10.0.0.1/mcp", "development")).toContain("10.0.0.1");
    expect(refusal("http://tools.example.com/mcp", "development")).toContain("https");
  });
});
