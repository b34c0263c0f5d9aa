import type { IncomingMessage } from "node:http";
import type { AppContext } from "../app-env.js";
import { RequestRefusal } from "./request-refusal.js";

/** A body while it is read: `late` rejects once it comes too slowly. */
export interface WatchedBody {
  readonly late: Promise<never>;
  stop(): void;
}

/**
 * Watches the progress of a body on its connection: whoever sends one byte now and then would keep a request, its
 * connection and what was read so far for ever. What was received and is not read yet does not count against the sender.
 */
export function watchBody(
  incoming: IncomingMessage,
  { pace, clock }: Pick<AppContext, "pace" | "clock">,
): WatchedBody {
  const { bodyIntervalMs, bodyIntervalBytes, bodyTotalMs } = pace;
  const { socket } = incoming;
  const startedAt = clock.monotonic();
  let received = socket.bytesRead;
  let refuse: (refusal: RequestRefusal) => void = () => {};
  const late = new Promise<never>((_, reject) => {
    refuse = reject;
  });
  // Whoever reads is told by its race; nobody else listens.
  late.catch(() => undefined);
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
  return { late, stop: () => cancel() };
}

/** The rest of the body is not waited for, so the connection cannot be used again. */
function tooSlow(message: string): RequestRefusal {
  return new RequestRefusal("timeout", message, { status: 408, headers: { connection: "close" } });
}
