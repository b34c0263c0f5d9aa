import type { Presence } from "@parley/core/ports";
import type { MemoryDatabase } from "./database.js";

/** The presence of a process on a memory database, which a test can end as the death of the process would. */
export interface MemoryPresence extends Presence {
  /** Ends it. The process is notified unless it is dead or hangs (`isNoticed: false`). */
  end(options?: { readonly isNoticed?: boolean }): void;
  /** Begins another one. */
  begin(): void;
}

/** Creates the presence of a process, already started. */
export function createMemoryPresence(database: MemoryDatabase): MemoryPresence {
  const listeners = new Set<() => void>();
  let token: string | undefined;
  const change = (to: string | undefined) => {
    token = to;
    for (const changed of [...listeners]) changed();
  };
  const begin = () => {
    const begun = `presence-${database.presences.size + 1}`;
    database.presences.set(begun, "held");
    change(begun);
  };
  begin();
  return {
    token: () => token,
    onChange(changed) {
      // A separate function, so that the same callback may be added twice.
      const listener = () => changed();
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    end({ isNoticed = true } = {}) {
      if (token !== undefined) database.presences.set(token, "ended");
      if (isNoticed) change(undefined);
    },
    begin,
  };
}
