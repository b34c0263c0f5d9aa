/** Calls back later, once. */
export type Schedule = (flush: () => void) => void;

/**
 * With the next animation frame while the page is visible; in the background, where there are none, within 16 ms;
 * and where there is no page at all, as soon as what is under way is done.
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

/** A value that changes at once, and listeners that hear of it in their own pace. */
export interface Store<T> {
  get(): T;
  /** Takes a new value; the same one changes nothing. */
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

/** A store whose listeners are told when `schedule` says so, once for however many changes. */
export function createStore<T>(first: T, schedule: Schedule): Store<T> {
  const listeners = new Set<() => void>();
  let value = first;
  let told = first;
  let isPlanned = false;
  const flush = () => {
    isPlanned = false;
    if (told === value) return;
    told = value;
    for (const listener of [...listeners]) {
      try {
        listener();
      } catch (error) {
        // One listener's mistake is its own; it surfaces where the page looks for errors.
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
        if (listeners.size === 0) told = next;
        return;
      }
      isPlanned = true;
      schedule(flush);
    },
    subscribe(listener) {
      // A function of its own, so that the same one may listen twice.
      const own = () => listener();
      listeners.add(own);
      return () => {
        listeners.delete(own);
      };
    },
  };
}
