import { expect, it } from "vitest";
import { networkOf } from "./networkOf.ts";

it("all addresses of one network of IPv6 count as one, and those of others do not", () => {
  expect(networkOf("2001:db8::1")).toBe(networkOf("2001:db8::ffff:ffff:ffff:ffff"));
  expect(networkOf("2001:db8::1")).not.toBe(networkOf("2001:db8:0:1::1"));
  expect(networkOf("fe80::1%eth0")).toBe(networkOf("fe80::2%eth0"));
});

it("an address of IPv4 is one caller, however it is written", () => {
  expect(networkOf("::ffff:192.0.2.1")).toBe("192.0.2.1");
  expect(networkOf("192.0.2.1")).not.toBe(networkOf("192.0.2.2"));
  expect(networkOf("nonsense")).toBe("nonsense");
});
