/** An object that holds back its output until the end of the tick. */
export interface Flushable {
  flush(): void;
}

/** A tick that reads hundreds of streams takes many milliseconds: the first of them do not wait for the last. */
const longestHoldMs = 1;

let waiting: Flushable[] = [];
let isImmediateSet = false;
let isMicrotaskSet = false;
/** Time at which the first of the waiting objects was added. */
let since = 0;

/**
 * Flushes at the end of the tick, together with everything else that has output then: for any number of events in a
 * tick, each connection writes once. The caller calls it once per flush. In a tick that takes long, output that has
 * waited for a millisecond is flushed as soon as the running callback returns.
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
