import type { Wake } from "@parley/core/ports";

/** Creates a wake-up for all listeners in the same process, shortly after: a writer never runs its readers' code. */
export function createMemoryWake(): Wake {
  type Listener = Parameters<Wake["listen"]>[0];
  const listeners = new Set<Listener>();
  return {
    notify(conversationIds, kind = "news") {
      const ids = [...conversationIds];
      for (const listener of listeners) {
        queueMicrotask(() => {
          if (listeners.has(listener)) listener(ids, kind);
        });
      }
    },
    listen(onWake) {
      // A separate function, so that the same listener may be added twice.
      const listener: Listener = (ids, kind) => onWake(ids, kind);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    async close() {
      listeners.clear();
    },
  };
}
