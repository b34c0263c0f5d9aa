import type { Wake, WakeKind } from "@parley/core/ports";

/** Wakes within the process, which is all there is on an embedded database. Listeners run after the caller. */
export function createLocalWake(): Wake {
  const listeners = new Set<{ readonly hear: Parameters<Wake["listen"]>[0] }>();
  return {
    notify(conversationIds, kind: WakeKind = "news") {
      const ids = [...conversationIds];
      queueMicrotask(() => {
        for (const { hear } of [...listeners]) hear(ids, kind);
      });
    },
    listen(onWake) {
      const listener = { hear: onWake };
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
