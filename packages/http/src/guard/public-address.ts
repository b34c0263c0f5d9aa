import { BlockList, isIP } from "node:net";

const privateAddresses = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  privateAddresses.addSubnet(network, prefix, "ipv4");
}
// In IPv6 only the global unicast range is public, except its special-purpose subnets.
privateAddresses.addRange("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ipv6");
privateAddresses.addSubnet("4000::", 2, "ipv6");
privateAddresses.addSubnet("8000::", 1, "ipv6");
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  privateAddresses.addSubnet(network, prefix, "ipv6");
}

/**
 * Returns true if an address is on the public internet: not this machine, a local network or a reserved
 * range.
 */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  // An IPv4-mapped IPv6 address is judged as the IPv4 address.
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return isPublicAddress(mapped);
  if (/^::ffff:/i.test(address)) return false;
  return !privateAddresses.check(address, version === 4 ? "ipv4" : "ipv6");
}

/**
 * Returns a check that allows public addresses and those of a list: addresses such as `10.0.0.5`, and
 * networks such as `192.168.0.0/16`. Throws a `RangeError` that names an entry which is neither.
 */
export function allowAddresses(allowed: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of allowed) {
    const [network = "", prefix] = entry.split("/");
    const version = isIP(network);
    const bits = prefix === undefined ? (version === 4 ? 32 : 128) : Number(prefix);
    const isNetwork = Number.isInteger(bits) && bits >= 0 && bits <= (version === 4 ? 32 : 128);
    if (version === 0 || !isNetwork) throw new RangeError(`"${entry}" is neither an address nor a network`);
    list.addSubnet(network, bits, version === 4 ? "ipv4" : "ipv6");
  }
  return (address) => {
    const version = isIP(address);
    const isListed = version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6");
    return isListed || isPublicAddress(address);
  };
}
