/** Something that holds back what is to be written until the end of the tick. */
export interface Flushable {
  flush(): void;
}

/** A tick that reads hundreds of streams takes many milliseconds: the first of them are not kept for the last. */
const longestHoldMs = 1;

let waiting: Flushable[] = [];
let isImmediateSet = false;
let isMicrotaskSet = false;
/** When the first of those that wait began to. */
let since = 0;

/**
 * Flushes at the end of the tick, together with everything else that has something to write then: however many events
 * a tick brings, each connection writes once. The caller asks once per flush. In a tick that takes long, what has
 * waited for a millisecond is flushed as soon as the callback under way returns.
 */
export function flushSoon(target: Flushable): void {
  if (waiting.push(target) === 1) {
    since = performance.now();
    if (isImmediateSet) return;
    isImmediateSet = true;
    setImmediate(endOfTick);
  } else if (!isMicrotaskSet && performance.now() - since > longestHoldMs) {
    isMicrotaskSet = true;
    queueMicrotask(flushAll);
  }
}

function endOfTick(): void {
  isImmediateSet = false;
  flushAll();
}

function flushAll(): void {
  isMicrotaskSet = false;
  const now = waiting;
  waiting = [];
  for (const target of now) target.flush();
}
