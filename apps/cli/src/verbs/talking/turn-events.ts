import { type ParleyClient, ParleyRequestError } from "@parley/client";
import { onceKey } from "@parley/fold";
import type { AgentEvent, SendMessageRequest } from "@parley/wire";
import type { VerbContext } from "../../verb-context.js";

/** Time to wait for a server that went away. It owns the turn, and continues it when it is back. */
const patienceMs = 120_000;

/**
 * Gives the events of the turn that a message opens. When the connection breaks, the same message is sent again: that is
 * the same turn, replayed from its start after an `again`. When the turn waits for input, `settle` decides; if it
 * returns true the turn is followed further, and earlier events are not yielded again.
 */
export async function* turnEvents(
  client: ParleyClient,
  request: SendMessageRequest,
  { io, signal }: Pick<VerbContext, "io" | "signal">,
  settle: (conversationId: string) => Promise<boolean>,
): AsyncIterable<AgentEvent | { readonly type: "again" }> {
  let brokenAt: number | undefined;
  let wasThere = false;
  let seen = new SeenEvents();
  for (let attempt = 0; ; attempt += 1) {
    try {
      let waitsIn: string | undefined;
      for await (const event of client.chat(request)) {
        if (brokenAt !== undefined) {
          yield { type: "again" };
          seen = new SeenEvents();
        }
        wasThere = true;
        brokenAt = undefined;
        if (!seen.has(event)) yield event;
        if (event.type === "turn-sealed") return;
        if (event.type === "status" && event.waiting !== undefined) waitsIn = event.conversationId;
      }
      if (waitsIn !== undefined) {
        if (!(await settle(waitsIn))) return;
        continue;
      }
      throw new ParleyRequestError("network", "The connection ended before the turn did", {
        retryable: true,
      });
    } catch (error) {
      const isAway =
        error instanceof ParleyRequestError &&
        ["network", "draining", "store_unavailable"].includes(error.code);
      // A server that was never reached is not worth waiting for.
      if (!isAway || !wasThere) throw error;
      if (brokenAt === undefined) {
        attempt = 0;
        brokenAt = Date.now();
        io.note("The connection broke; waiting for the server to go on with the same turn ...");
      } else if (Date.now() - brokenAt > patienceMs) throw error;
    }
    await pause(Math.min(3_000, 250 * 2 ** attempt), signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });
}

/** The events of a turn that were yielded before: after a wait the turn is replayed from its start. */
class SeenEvents {
  readonly #once = new Set<string>();
  readonly #steps = new Set<string>();
  readonly #calls = new Set<string>();

  /** Returns true for an event that was given before, and remembers one that was not. */
  has(event: AgentEvent): boolean {
    // Pieces of a text are joined; all of them lie before the end of their step, or of their call.
    if (event.type === "text-delta" || event.type === "reasoning-delta")
      return this.#steps.has(event.stepId ?? "");
    if (event.type === "tool-output") return this.#calls.has(`${event.stepId} ${event.toolCallId}`);
    if (event.type === "step-complete") this.#steps.add(event.stepId);
    if (event.type === "tool-result") this.#calls.add(`${event.stepId} ${event.toolCallId}`);
    const key = onceKey(event);
    if (key === undefined) return false;
    const known = this.#once.has(key);
    this.#once.add(key);
    return known;
  }
}
