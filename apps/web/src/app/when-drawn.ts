/**
 * Calls back once the current content has been drawn; soon in a tab that draws nothing. Returns a function that cancels
 * the call.
 */
export function whenDrawn(work: () => void): () => void {
  let later = setTimeout(start, 300);
  const frame = requestAnimationFrame(() => {
    clearTimeout(later);
    // A frame's callbacks run before it is drawn.
    later = setTimeout(start);
  });
  function start() {
    cancelAnimationFrame(frame);
    work();
  }
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(later);
  };
}
