/**
 * Returns a scheduler of updates: the first change after a pause is flushed at once, further ones at a steady interval.
 * A model that writes faster than anyone reads then costs no more than one that does not.
 *
 * A hidden tab has no frames; its changes are flushed by a timer.
 */
export function steadyPace(beatMs = 40): (flush: () => void) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (flush) => {
    let done = false;
    const run = () => {
      if (done) return;
      done = true;
      last = performance.now();
      flush();
    };
    const wait = Math.max(0, last + beatMs - performance.now());
    setTimeout(() => requestAnimationFrame(run), wait);
    setTimeout(run, wait + 250);
  };
}
