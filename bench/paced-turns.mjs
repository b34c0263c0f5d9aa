// Many answers that grow at a steady pace, driven by one timer: what providers send, without providers.

/** The increment that every answer grows by. */
export const PIECE = " word";

/**
 * Calls each of the added functions `perSecond` times a second, spread evenly: a tick per millisecond, and a share of
 * them at each. What a late tick missed is made up for.
 */
export function createPacer(perSecond) {
  const turns = [];
  const everyMs = 1_000 / perSecond;
  let startedAt;
  let timer;
  let done = 0;
  const tick = () => {
    const due = Math.floor(((performance.now() - startedAt) / everyMs) * turns.length);
    for (; done < due; done += 1) turns[done % turns.length]();
  };
  return {
    add(turn) {
      turns.push(turn);
    },
    /** How many increments were sent so far. */
    get sent() {
      return done;
    },
    get size() {
      return turns.length;
    },
    start() {
      startedAt = performance.now();
      timer = setInterval(tick, 1);
    },
    stop() {
      clearInterval(timer);
    },
  };
}
