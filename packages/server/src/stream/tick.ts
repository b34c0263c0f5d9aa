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
  if (waiting.push(target) === 1) setImmediate(flushAll);
}

function flushAll(): void {
  const now = waiting;
  waiting = [];
  for (const target of now) target.flush();
}
