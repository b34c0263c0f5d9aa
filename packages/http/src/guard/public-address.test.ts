import { describe, expect, it } from "vitest";
import { allowAddresses, isPublicAddress } from "./public-address.js";

describe("isPublicAddress", () => {
  it.each(["8.8.8.8", "1.1.1.1", "2606:4700::1111", "2a00:1450::1", "3000::1"])("%s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
  it.each([
    "10.1.2.3",
    "172.31.0.1",
    "192.168.1.1",
    "127.0.0.1",
    "0.0.0.0",
    "169.254.1.1",
    "100.64.0.1",
    "::1",
    "::",
    "fe80::1",
    "fd00::1",
    "fec0::1",
    "::127.0.0.1",
    "100::1",
    "5f00::1",
    "2002:7f00:1::",
    "3fff::1",
    "::ffff:10.0.0.1",
    "::ffff:7f00:1",
    "64:ff9b::a00:1",
    "224.0.0.1",
    "nonsense",
  ])("%s is not", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe("allowAddresses", () => {
  it("allows public and listed addresses, and nothing else", () => {
    const allows = allowAddresses(["10.0.0.5", "192.168.0.0/16", "fd00::/8"]);
    const addresses = [
      "8.8.8.8",
      "10.0.0.5",
      "10.0.0.6",
      "192.168.7.7",
      "fd12::1",
      "fe80::1",
      "127.0.0.1",
      "x",
    ];
    expect(addresses.filter(allows)).toEqual(["8.8.8.8", "10.0.0.5", "192.168.7.7", "fd12::1"]);
  });

  it.each(["localhost", "10.0.0.0/33", "10.0.0.0/x", ""])("refuses %j", (entry) => {
    expect(() => allowAddresses([entry])).toThrow(RangeError);
  });
});
