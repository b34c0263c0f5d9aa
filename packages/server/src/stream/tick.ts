/** Something that holds back what is to be written until the end of the tick. */
export interface Flushable {
  flush(): void;
}

let waiting: Flushable[] = [];
let flushedAt = 0;

/** What follows a flush so closely is part of the same busy stretch. */
const calmMs = 1;

/**
 * Flushes at the end of the tick, together with everything else that has something to write then: however many events
 * a tick brings, each connection writes once. The caller asks once per tick.
 *
 * In a busy stretch the end of the tick is when the event loop has gone round: writes that come together wake their
 * readers once. Otherwise nothing else is to be expected, and another round would cost a single stream more than the
 * write itself.
 */
export function flushSoon(target: Flushable): void {
  if (waiting.push(target) > 1) return;
  if (performance.now() - flushedAt < calmMs) setImmediate(flushAll);
  else process.nextTick(flushAll);
}

function flushAll(): void {
  const now = waiting;
  waiting = [];
  for (const target of now) target.flush();
  flushedAt = performance.now();
}
