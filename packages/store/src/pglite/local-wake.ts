import type { Wake, WakeKind } from "@parley/core/ports";

/** Creates a wake-up within the process, the only one on an embedded database. Listeners run after the caller. */
export function createLocalWake(): Wake {
  const listeners = new Set<{ readonly hear: Parameters<Wake["listen"]>[0] }>();
  return {
    notify(logs, kind: WakeKind = "news") {
      const given = [...logs];
      queueMicrotask(() => {
        for (const { hear } of [...listeners]) hear(given, kind);
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
