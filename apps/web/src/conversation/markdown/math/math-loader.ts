type Math = typeof import("./draw-math.js");

let loaded: Math | undefined;
let loading: Promise<Math> | undefined;

/** Returns the renderer of formulas, if it is loaded. */
export function loadedMath(): Math | undefined {
  return loaded;
}

/** Loads the renderer of formulas. */
export function loadMath(): Promise<Math> {
  loading ??= import("./draw-math.js").then(
    (math) => {
      loaded = math;
      return math;
    },
    (error: unknown) => {
      // The next attempt may succeed.
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

/** Draws a formula into an element. Returns its problem, if it has one. */
export function drawFormula(element: HTMLElement, tex: string, display: boolean): string | undefined {
  return loaded?.drawMath(element, tex, display);
}

/** Time of one frame that formulas may use. */
const frameBudgetMs = 10;
const waiting: (() => void)[] = [];
let usedMs = 0;
let isAsked = false;

/**
 * Calls back at once if this frame has time left, otherwise in one of the next: a thousand formulas do not block the
 * page.
 */
export function soon(work: () => void): void {
  if (usedMs >= frameBudgetMs || waiting.length > 0) waiting.push(work);
  else timed(work);
  askForFrame();
}

function askForFrame(): void {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(nextFrame);
}

function timed(work: () => void): void {
  const from = performance.now();
  work();
  usedMs += performance.now() - from;
}

function nextFrame(): void {
  usedMs = 0;
  isAsked = false;
  while (waiting.length > 0 && usedMs < frameBudgetMs) timed(waiting.shift() ?? (() => undefined));
  if (waiting.length > 0) askForFrame();
}
