import { isPublicAddress } from "../../packages/http/src/guard/public-address.js";

/**
 * An address of this machine that represents the open internet: pages there may be fetched, so that redirects from it
 * and names that resolve to it can be tried without a network.
 */
export const openAddress = "127.0.0.2";

/** Decides like the tool itself, except for the address that represents the open internet. */
export function isAllowedAddress(address: string): boolean {
  return address === openAddress || isPublicAddress(address);
}

/** This machine and its neighbours, in every way that an address can be written. */
export const closedHosts = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "127.127.127.127",
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "017700000001",
  "00000177.0.0.01",
  "0",
  "0.0.0.0",
  "0x0",
  "[::]",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[0000::0001]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::ffff:0:127.0.0.1]",
  "[::127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[2002:7f00:1::]",
  "[fe80::1]",
  "[fec0::1]",
  "[fc00::1]",
  "[fd12:3456::1]",
  "[ff02::1]",
  "10.0.0.1",
  "10.255.255.255",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.0.1",
  "169.254.169.254",
  "169.254.0.1",
  "100.64.0.1",
  "100.100.100.200",
  "192.0.0.192",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "240.0.0.1",
  "①②⑦.⓪.⓪.①",
  "１２７.0.0.1",
  "127。0。0。1",
  "localhost",
  "LOCALHOST",
];

/** Names with arbitrary answers, resolved by a resolver of the test. */
export const names: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "localhost.": [["127.0.0.1"]],
  "ip6-localhost": [["::1"]],
  "loopback.rebind.test": [["127.0.0.1"]],
  "private.rebind.test": [["10.0.0.7"]],
  "metadata.rebind.test": [["169.254.169.254"]],
  "mapped.rebind.test": [["::ffff:127.0.0.1"]],
  "six.rebind.test": [["::1"]],
  "unspecified.rebind.test": [["0.0.0.0"]],
  "mixed.rebind.test": [[openAddress, "127.0.0.1"]],
  "other-way.rebind.test": [["127.0.0.1", openAddress]],
  // Another answer each time: the connection must go to the address that was checked.
  "changing.rebind.test": [[openAddress], ["127.0.0.1"], ["127.0.0.1"], ["127.0.0.1"]],
};

/** Returns addresses that are not fetched at all, whatever the list of hosts allows. */
export const otherUrls = (port: number): string[] => [
  "file:///etc/passwd",
  "ftp://127.0.0.1/",
  "gopher://127.0.0.1:6379/_INFO",
  "dict://127.0.0.1:11211/stat",
  "data:text/plain,hello",
  "javascript:alert(1)",
  "blob:null/x",
  `ws://127.0.0.1:${port}/`,
  `http://user:pass@${openAddress}:${port}/`,
  `http://${openAddress}@127.0.0.1:${port}/`,
  `http://127.0.0.1:${port}#@${openAddress}/`,
  `http://127.0.0.1:${port}\\@${openAddress}/`,
  `http:\\\\127.0.0.1:${port}\\`,
  `http:/127.0.0.1:${port}/`,
  `http:127.0.0.1:${port}/`,
  `//127.0.0.1:${port}/`,
  ` http://127.0.0.1:${port}/`,
  `http://127.0.0.1:${port}/\r\nx-injected: 1`,
  `\thttp://12\t7.0.0.1:${port}/`,
  "not a url",
  "",
];
