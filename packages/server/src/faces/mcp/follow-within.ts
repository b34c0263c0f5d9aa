import { onAbort } from "@parley/core/messages";
import type { AgentEvent } from "@parley/wire";
import { mcpFaceLimits } from "./mcp-face-limits.js";
import type { ToolScope } from "./mcp-tool.js";

/**
 * Waits until a turn is sealed or waits for input, at most for the server's `mcpWaitMs`, and reports its progress. The
 * turn continues when the wait ends, whatever ends it.
 */
export async function followWithin(
  { me, app, signal, onProgress }: ToolScope,
  turn: { readonly conversationId: string; readonly turnId: string },
): Promise<void> {
  const { clock, pace } = app;
  const progress = new Progress(onProgress);
  const ends: (() => void)[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      ends.push(clock.after(pace.mcpWaitMs, resolve));
      ends.push(onAbort(signal, resolve));
      let stopTick = () => {};
      const tick = () => {
        progress.tick();
        stopTick = clock.after(mcpFaceLimits.progressMs, tick);
      };
      if (onProgress !== undefined) tick();
      ends.push(() => stopTick());
      const leave = me.followTurn(turn.conversationId, turn.turnId, {
        onEvent: (event) => progress.see(event),
        onReset: () => progress.see(undefined),
        onEnd: (error) => (error === undefined ? resolve() : reject(error)),
      });
      ends.push(leave);
    });
  } finally {
    for (const end of ends) end();
  }
}

/** Progress of a turn in words, reported at a limited rate. */
class Progress {
  readonly #report: ToolScope["onProgress"];
  #characters = 0;
  #words = "The turn has begun";
  #isNew = true;
  #reports = 0;
  #silentTicks = 0;

  constructor(report: ToolScope["onProgress"]) {
    this.#report = report;
  }

  see(event: AgentEvent | undefined): void {
    if (event === undefined) this.#characters = 0;
    else if (event.type === "text-delta") this.#characters += event.delta.length;
    else if (event.type === "tool-call") this.#say(`Calls ${event.toolName}`);
    if (event?.type === "text-delta") this.#say(`${this.#characters} characters`);
  }

  #say(words: string): void {
    this.#words = words;
    this.#isNew = true;
  }

  tick(): void {
    this.#silentTicks += 1;
    const isSilent = this.#silentTicks * mcpFaceLimits.progressMs >= mcpFaceLimits.silenceMs;
    if (!this.#isNew && !isSilent) return;
    this.#isNew = false;
    this.#silentTicks = 0;
    this.#reports += 1;
    // A report that cannot be sent has no reader.
    this.#report?.(this.#reports, this.#words).catch(() => undefined);
  }
}
