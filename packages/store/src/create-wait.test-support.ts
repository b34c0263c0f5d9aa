/**
 * Creates a wait that subtracts from the next wait what a timer on a busy machine took too long: cases add up their
 * waits.
 */
export function createWait(): (ms: number) => Promise<void> {
  let late = 0;
  return async (ms) => {
    const started = performance.now();
    const wanted = Math.max(0, ms - late);
    await new Promise((resolve) => setTimeout(resolve, wanted));
    late = Math.min(50, Math.max(0, late - ms) + Math.max(0, performance.now() - started - wanted));
  };
}
