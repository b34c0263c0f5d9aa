import { slowToolName } from "./compose.js";

interface SlowTaskContext {
  readonly signal: AbortSignal;
  output(data: string, stream?: "stdout" | "stderr"): void;
}

/** Creates the demo's slow tool: a few steps, each reported while it runs. Stops when aborted. */
export function slowTask(options: { readonly stepMs?: number } = {}) {
  const { stepMs = 1_000 } = options;
  return {
    name: slowToolName,
    description: "Pretends to work for a few seconds and reports each step.",
    recovery: "retry" as const,
    schema: {
      type: "object",
      properties: { steps: { type: "integer", minimum: 1, maximum: 60 } },
      additionalProperties: false,
    },
    async execute({ steps = 5 }: { readonly steps?: number }, { signal, output }: SlowTaskContext) {
      for (let step = 1; step <= steps; step += 1) {
        await pause(stepMs, signal);
        signal.throwIfAborted();
        output(`step ${step} of ${steps} done\n`);
      }
      return `finished ${steps} steps`;
    },
  };
}

/** Resolves after the time has passed, or at once when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish, { once: true });
    if (signal.aborted) finish();
  });
}
