import type { HttpTransport } from "@parley/http";
import { fetchTransport } from "@parley/http";
import { createNodeTransport } from "@parley/http/node";

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
