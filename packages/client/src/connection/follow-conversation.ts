import type { SseMessage } from "@parley/wire";
import { type Caller, parseJson, transportError } from "../requests/request.js";
import { backoffMs } from "./backoff.js";
import { readEvents } from "./read-events.js";

/** Options for following a conversation by server-sent events. */
export interface FollowOptions {
  /** Cursor to resume from. Absent: from the first event of the turn that runs. */
  readonly cursor?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Delays and callbacks of reconnects. */
export interface FollowPace {
  readonly minMs: number;
  readonly maxMs: number;
  readonly random: () => number;
  /** Called when it was cut off, with the delay until it reconnects. */
  readonly onWait?: (attempt: number, ms: number) => void;
  /** Called when it is connected. */
  readonly onOpen?: () => void;
}

/**
 * Follows a conversation by server-sent events. When it is cut off it reconnects with the newest cursor, and ends only
 * when the signal aborts or the server refuses permanently.
 */
export async function* followConversation(
  call: Caller,
  conversationId: string,
  { cursor: first, signal }: FollowOptions,
  pace: FollowPace,
): AsyncGenerator<SseMessage, void, undefined> {
  let cursor = first;
  for (let attempt = 0; !signal?.aborted; attempt += 1) {
    try {
      const response = await call("GET /conversations/:id/events", {
        params: { id: conversationId },
        query: { cursor },
        accept: "text/event-stream",
        signal,
      });
      // A `fetch` that ignores the signal answers even when no caller waits for it any more.
      if (!signal?.aborted) pace.onOpen?.();
      if (response.body === null) return;
      for await (const { data } of readEvents(response.body, signal)) {
        attempt = 0;
        const message = parseJson(data) as SseMessage;
        if (message.type !== "queue.changed") cursor = message.cursor ?? cursor;
        yield message;
      }
    } catch (cause) {
      const error = transportError(cause, signal, "The event stream");
      if (error.code === "canceled") return;
      if (!error.retryable) throw error;
    }
    const ms = backoffMs(attempt, pace);
    pace.onWait?.(attempt + 1, ms);
    await wait(ms, signal);
  }
}

/** Resolves after some time, or as soon as the signal aborts. */
function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}
