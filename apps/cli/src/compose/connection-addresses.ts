import { allowAddresses } from "@parley/http/node";
import type { Config } from "../config/config.js";
import { listedAddresses } from "./listed-addresses.js";
import { isLoopbackHost } from "./loopback.js";

/** This machine and local networks, where models are served from. Nothing of a cloud's own services is among them. */
const localNetworks = [
  "127.0.0.0/8",
  "::1/128",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "fc00::/7",
];

/** Addresses inside of these networks at which clouds return credentials to any caller. */
const metadataAddresses = new Set(["100.100.100.200", "fd00:ec2::254"]);

/**
 * Where connections may lead that are made while the server runs: such a request comes from inside. Public addresses are
 * always allowed. Private ones are where the configuration says so, else where only this machine reaches the server.
 */
export function connectionAddresses({
  connections,
  listen,
  hosts,
}: Pick<Config, "connections" | "listen" | "hosts">): (address: string) => boolean {
  const isOwnMachine = isLoopbackHost(listen.host) && hosts.length === 0;
  const { privateAddresses = isOwnMachine } = connections ?? {};
  if (privateAddresses === false) return allowAddresses([]);
  if (privateAddresses === true) {
    const isAllowed = allowAddresses(localNetworks);
    return (address) => isAllowed(address) && !metadataAddresses.has(address.toLowerCase());
  }
  return listedAddresses("connections.privateAddresses", privateAddresses);
}
