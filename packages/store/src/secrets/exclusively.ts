import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { SecretName, SecretStore, Secrets } from "@parley/core/ports";

/** Default duration of a hold, and the interval at which others try to get it: short at first, then bounded. */
const holding = { leaseMs: 30_000, firstPollMs: 20, mostPollMs: 500 };

/**
 * Runs the work for a name one call at a time. Calls of this process queue here, so that only the first of them uses
 * the store; processes take turns by the hold in the store.
 */
export function createExclusively(store: Pick<SecretStore, "hold" | "release">): Secrets["exclusively"] {
  const queues = new Map<string, Promise<void>>();

  return async (name, work, { leaseMs = holding.leaseMs, signal } = {}) => {
    const key = JSON.stringify([name.owner ?? null, name.kind, name.name]);
    const before = queues.get(key) ?? Promise.resolve();
    let leave = () => {};
    const own = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const queue = before.then(() => own);
    queues.set(key, queue);
    // Removed when all before it are done, too: a call that gave up waiting must not let the next one pass them.
    void queue.then(() => {
      if (queues.get(key) === queue) queues.delete(key);
    });
    try {
      await unlessAborted(before, signal);
      return await whileHeld(
        store,
        { owner: name.owner, kind: name.kind, name: name.name },
        { leaseMs, signal, work },
      );
    } finally {
      leave();
    }
  };
}

interface HeldWork<Result> {
  readonly leaseMs: number;
  readonly signal: AbortSignal | undefined;
  readonly work: (signal: AbortSignal) => Promise<Result>;
}

async function whileHeld<Result>(
  store: Pick<SecretStore, "hold" | "release">,
  { owner, ...named }: { owner: string | undefined; kind: string; name: string },
  { leaseMs, signal, work }: HeldWork<Result>,
): Promise<Result> {
  const name: SecretName = owner === undefined ? named : { ...named, owner };
  const holder = randomUUID();
  try {
    for (let pollMs = holding.firstPollMs; ; pollMs = Math.min(pollMs * 2, holding.mostPollMs)) {
      signal?.throwIfAborted();
      // Computed before the request is sent: here the hold never outlasts the one in the store.
      const end = performance.now() + leaseMs;
      const waitMs = await store.hold({ ...name, holder, leaseMs });
      if (waitMs === 0) {
        const over = AbortSignal.timeout(Math.max(0, Math.floor(end - performance.now())));
        return await work(signal === undefined ? over : AbortSignal.any([over, signal]));
      }
      await delay(Math.min(waitMs, pollMs), undefined, signal === undefined ? {} : { signal });
    }
  } finally {
    // If this fails, the hold ends with its time.
    await store.release({ ...name, holder }).catch(() => undefined);
  }
}

function unlessAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    void promise.then(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
  });
}
