import { type ParleyError, toParleyError } from "@parley/core/errors";
import type { AgentEvent, CursoredEvent } from "@parley/wire";
import type { ResponseStream } from "./response-stream.js";

/** Returns one value as a line. */
export function jsonLine(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

/**
 * Writes the events of a turn, a line each, through `turn-sealed`, at the reader's pace: a replay is in memory all at
 * once, and of live events the runtime keeps only a limited number. A reader that leaves ends the stream and nothing
 * else: the turn continues. A stream that cannot be completed ends with an `error` that states it. Returns a function
 * that ends it that way.
 */
export function writeTurn(
  stream: ResponseStream,
  events: AsyncIterable<CursoredEvent>,
  turn: { readonly conversationId: string; readonly turnId: string },
): (why: ParleyError) => void {
  const reader = events[Symbol.asyncIterator]();
  let isOver = false;
  const breakOff = (why: unknown) => stream.end(jsonLine(lastWords(toParleyError(why), turn)));
  void stream.over.then(() => {
    isOver = true;
    void reader.return?.();
  });
  const writeEvents = async () => {
    for (let next = await reader.next(); !next.done && !isOver; next = await reader.next()) {
      stream.write(jsonLine(next.value.event));
      await stream.drained();
    }
    stream.end();
  };
  void writeEvents().catch(breakOff);
  return breakOff;
}

function lastWords(
  error: ParleyError,
  { conversationId, turnId }: { readonly conversationId: string; readonly turnId: string },
): AgentEvent {
  // If it is retryable, the turn itself may continue: the same message sent again replays it from the start.
  const { code, message, retryable } = error;
  return { type: "error", conversationId, turnId, code, message, retryable };
}
