/** Something that holds back what is to be written until the end of the tick. */
export interface Flushable {
  flush(): void;
}

let waiting: Flushable[] = [];

/**
 * Flushes at the end of the tick, together with everything else that has something to write then: however many events
 * a tick brings, each connection writes once. The caller asks once per tick.
 */
export function flushSoon(target: Flushable): void {
  // Not `setImmediate`: that is another round of the event loop, which a single stream would pay with every delta.
  if (waiting.push(target) === 1) process.nextTick(flushAll);
}

function flushAll(): void {
  const now = waiting;
  waiting = [];
  for (const target of now) target.flush();
}
