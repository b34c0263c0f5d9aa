// Many answers that grow at a steady pace, driven by one timer: the output of providers, without providers.

/** The increment that every answer grows by. */
export const PIECE = " word";

/**
 * Calls each of the added functions `perSecond` times a second, spread evenly: a tick per millisecond, and a
 * share of them at each. Calls missed by a late tick are made up for.
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
    /** Number of increments sent so far. */
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
