import { setTimeout as delay } from "node:timers/promises";
import { isPostmasterOf } from "./postmaster.js";

/** Time that a server may take to end, by the signal that is sent: with a checkpoint, without one, at once. */
const endings = [
  { signal: "SIGINT", waitMs: 60_000 },
  { signal: "SIGQUIT", waitMs: 10_000 },
  { signal: "SIGKILL", waitMs: 10_000 },
] as const;

const betweenMs = 5;

/** Stops a server and waits until it is gone. Committed data is in its log, however it ends. */
export async function stopServer(pid: number, data: string): Promise<void> {
  for (const { signal, waitMs } of endings) {
    if (!isPostmasterOf(pid, data)) return;
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended since, or belongs to another user; in both cases the loop waits for it.
    }
    for (const end = performance.now() + waitMs; performance.now() < end; await delay(betweenMs)) {
      if (!isPostmasterOf(pid, data)) return;
    }
  }
}
