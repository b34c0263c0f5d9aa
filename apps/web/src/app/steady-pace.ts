/**
 * When the page hears of changes: at once when it has been quiet, else with a steady beat. A model that writes faster
 * than anyone reads then costs no more than one that does not.
 *
 * A hidden tab has no frames; it gets its changes by the clock.
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
