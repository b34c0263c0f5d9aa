import type { HttpTransport } from "../src/ports.js";
import { fetchTransport } from "../src/transport/fetch-transport.js";
import { createNodeTransport } from "../src/transport/node-transport.js";

/** Both transports, each with the name that its tests carry. */
export const transports: readonly (readonly [string, HttpTransport])[] = [
  ["fetch", fetchTransport],
  ["node", createNodeTransport()],
];

/** Counts calls of a transport. */
export function counted(transport: HttpTransport): { transport: HttpTransport; calls(): number } {
  let calls = 0;
  return {
    transport: (url, init) => {
      calls += 1;
      return transport(url, init);
    },
    calls: () => calls,
  };
}
