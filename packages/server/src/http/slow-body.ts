import type { IncomingMessage } from "node:http";
import type { AppContext } from "../app-env.js";
import { RequestRefusal } from "./request-refusal.js";

/** A body while it is read. */
export interface WatchedBody {
  /** Waits for a read, and rejects once the body comes too slowly. One read at a time. */
  inTime<T>(read: Promise<T>): Promise<T>;
  stop(): void;
}

/**
 * Watches the progress of a body on its connection: a client that sends one byte now and then would keep a request,
 * its connection and the bytes read so far forever. Bytes that were received and are not read yet do not count against
 * the sender.
 */
export function watchBody(
  incoming: IncomingMessage,
  { pace, clock }: Pick<AppContext, "pace" | "clock">,
): WatchedBody {
  const { bodyIntervalMs, bodyIntervalBytes, bodyTotalMs } = pace;
  const { socket } = incoming;
  const startedAt = clock.monotonic();
  let received = socket.bytesRead;
  let refusal: RequestRefusal | undefined;
  let reject: (refusal: RequestRefusal) => void = () => {};
  const refuse = (given: RequestRefusal) => {
    refusal = given;
    reject(given);
  };
  const look = () => {
    if (incoming.complete || incoming.destroyed) return;
    const bytes = socket.bytesRead - received;
    received = socket.bytesRead;
    if (clock.monotonic() - startedAt >= bodyTotalMs) {
      refuse(tooSlow(`The body did not arrive within ${bodyTotalMs} ms (bodyTotalMs)`));
    } else if (bytes < bodyIntervalBytes && incoming.readableLength === 0) {
      refuse(
        tooSlow(
          `Fewer than ${bodyIntervalBytes} bytes of the body arrived within ${bodyIntervalMs} ms (bodyIntervalMs)`,
        ),
      );
    } else plan();
  };
  let cancel = () => {};
  const plan = () => {
    cancel = clock.after(bodyIntervalMs, look);
  };
  plan();
  return {
    // Not a race with one promise for all reads: that would keep the result of each of them until the body has ended.
    inTime: (read) =>
      new Promise((resolve, rejectRead) => {
        reject = rejectRead;
        read.then(resolve, rejectRead);
        if (refusal !== undefined) rejectRead(refusal);
      }),
    stop: () => cancel(),
  };
}

/** Returns the refusal of a slow body. The rest of it is not awaited, so the connection cannot be used again. */
function tooSlow(message: string): RequestRefusal {
  return new RequestRefusal("timeout", message, { status: 408, headers: { connection: "close" } });
}
