/** A hidden frame that does work which the page itself must not do. */
export interface FrameWorker {
  /**
   * Sends a request to the frame. Rejects with the frame's problem, or when it takes too long: the frame is then
   * removed, and the next request gets a new one.
   */
  ask(request: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
}

interface Asked {
  readonly request: Readonly<Record<string, unknown>>;
  readonly resolve: (answer: Readonly<Record<string, unknown>>) => void;
  readonly reject: (error: Error) => void;
}

/** An unused frame is removed after this time. */
const idleMs = 30_000;

/**
 * Creates a worker frame at an address of the server, without an origin and without any right except to run scripts. It
 * gets one request at a time, so that a request that never ends fails no other.
 */
export function frameWorker(address: string, timeLimitMs: number): FrameWorker {
  const waiting: Asked[] = [];
  let frame: HTMLIFrameElement | undefined;
  let isReady = false;
  let current: Asked | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const end = () => {
    clearTimeout(timer);
    frame?.remove();
    frame = undefined;
    isReady = false;
    removeEventListener("message", onMessage);
  };
  const start = () => {
    frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.setAttribute("aria-hidden", "true");
    frame.title = "Work in the background";
    frame.tabIndex = -1;
    frame.className = "frame-worker";
    frame.src = address;
    addEventListener("message", onMessage);
    document.body.append(frame);
  };
  const fail = (reason: string) => {
    const failed = current;
    current = undefined;
    end();
    failed?.reject(new Error(reason));
    next();
  };
  const next = () => {
    clearTimeout(timer);
    current ??= waiting.shift();
    if (current === undefined) {
      timer = setTimeout(end, idleMs);
      return;
    }
    if (frame === undefined) start();
    // Loading counts too: a frame that never loads is a failure as well.
    timer = setTimeout(() => fail("It took too long."), timeLimitMs + (isReady ? 0 : 15_000));
    if (isReady) frame?.contentWindow?.postMessage({ ...current.request, id: 0 }, "*");
  };
  function onMessage({ source, data }: MessageEvent): void {
    if (frame === undefined || source !== frame.contentWindow || typeof data !== "object" || data === null)
      return;
    if (!isReady) {
      isReady = true;
      next();
      return;
    }
    const answered = current;
    if (answered === undefined) return;
    current = undefined;
    const answer = data as Readonly<Record<string, unknown>>;
    if (typeof answer.problem === "string") answered.reject(new Error(answer.problem));
    else answered.resolve(answer);
    next();
  }
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        waiting.push({ request, resolve, reject });
        if (current === undefined) next();
      }),
  };
}
