/** Calls back later, once. */
export type Schedule = (flush: () => void) => void;

/**
 * Calls back with the next animation frame while the page is visible; in the background, where there are none, within
 * 16 ms; and without a page, as soon as the current work is done.
 */
export const frameSchedule: Schedule = (flush) => {
  const page = globalThis.document as Document | undefined;
  if (page === undefined) {
    queueMicrotask(flush);
    return;
  }
  if (typeof requestAnimationFrame !== "function" || page.visibilityState === "hidden") {
    setTimeout(flush, 16);
    return;
  }
  let isDone = false;
  const once = () => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    flush();
  };
  // A page that is hidden meanwhile gets no more frames.
  const timer = setTimeout(once, 250);
  requestAnimationFrame(once);
};

/** A value that changes at once, and listeners that are notified on a schedule. */
export interface Store<T> {
  get(): T;
  /** Sets a new value; the same one changes nothing. */
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

/** Creates a store whose listeners are notified when `schedule` calls back, once for any number of changes. */
export function createStore<T>(first: T, schedule: Schedule): Store<T> {
  const listeners = new Set<() => void>();
  let value = first;
  let published = first;
  let isPlanned = false;
  const flush = () => {
    isPlanned = false;
    if (published === value) return;
    published = value;
    for (const listener of [...listeners]) {
      try {
        listener();
      } catch (error) {
        // One listener's error does not affect the others; it surfaces as an uncaught error of the page.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  };
  return {
    get: () => value,
    set(next) {
      if (next === value) return;
      value = next;
      if (isPlanned || listeners.size === 0) {
        if (listeners.size === 0) published = next;
        return;
      }
      isPlanned = true;
      schedule(flush);
    },
    subscribe(listener) {
      // A new function, so that the same listener may subscribe twice.
      const own = () => listener();
      listeners.add(own);
      return () => {
        listeners.delete(own);
      };
    },
  };
}
