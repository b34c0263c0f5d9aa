import type { ParleyError } from "../errors.js";
import { Channel } from "../messages/channel.js";
import type { Conversation, ConversationMessage } from "../messages/message.js";
import type { ToolCallContentPart, ToolResultContentPart } from "../messages/part.js";
import type { ConversationTurn } from "../ports.js";

/** Result of a turn. */
export interface TurnOutput {
  /** The conversation after this turn. */
  conversation: Conversation;
  /** The turn as it was stored. `metadata.reason` is the reason it ended. */
  turn: ConversationTurn;
  /** The assistant messages of this turn, in order. */
  assistantMessages: ConversationMessage[];
  /** The tool messages of this turn, in order. Absent if there are none. */
  toolMessages?: ConversationMessage[];
}

/**
 * Event of a running turn. `delta` carries the assistant message with its text so far, built when it is read;
 * `textDelta` beside it is the increment.
 */
export type StreamingTurnEvent =
  | { type: "delta"; delta: ConversationMessage; textDelta?: string }
  | { type: "reasoning-delta"; textDelta: string; messageId?: string }
  | { type: "tool-call"; toolCall: ToolCallContentPart }
  | { type: "tool-output"; toolCallId: string; data: string; stream: "stdout" | "stderr" }
  | { type: "tool-result"; toolResult: ToolResultContentPart }
  | { type: "completed"; output: TurnOutput };

/**
 * A running turn. It continues with or without a reader: iterating only observes it, leaving the iteration stops
 * observing, and only its signal stops the turn. One iteration receives every event from the first one; a reader that
 * is far behind gets the text it missed in fewer, longer deltas.
 *
 * `final` and the iteration agree: either the last event is `completed` with the output that `final` resolves to, or
 * the turn failed, and the iteration ends by throwing the `ParleyError` that `final` rejects with. A rejection that
 * no caller awaits is not reported as unhandled.
 */
export interface StreamingTurn extends AsyncIterable<StreamingTurnEvent> {
  final: Promise<TurnOutput>;
}

/** Number of events that may wait for a reader before text is joined. */
const maxWaiting = 256;

/** The reader's side of a running turn, written to by the engine. */
export class TurnFeed implements StreamingTurn {
  readonly final: Promise<TurnOutput>;
  #settle: { resolve: (output: TurnOutput) => void; reject: (error: ParleyError) => void } | undefined;
  readonly #events = new Channel<StreamingTurnEvent>({ join, joinAbove: maxWaiting });

  /** With `unread`, no caller will iterate, so nothing is kept for it. */
  constructor(options: { unread?: boolean } = {}) {
    if (options.unread === true) void this.#events.return();
    this.final = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.final.catch(() => {});
  }

  /** False if there is no reader and will be none: then nothing needs to be pushed. */
  get watched(): boolean {
    return !this.#events.left;
  }

  push(event: StreamingTurnEvent): void {
    void this.#events.push(event);
  }

  complete(output: TurnOutput): void {
    this.push({ type: "completed", output });
    this.#events.end();
    this.#settle?.resolve(output);
  }

  fail(error: ParleyError): void {
    this.#events.fail(error);
    this.#settle?.reject(error);
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamingTurnEvent> {
    return this.#events;
  }
}

/** Joins two events into one if the second only continues the text of the first. */
function join(last: StreamingTurnEvent, next: StreamingTurnEvent): StreamingTurnEvent | undefined {
  if (last instanceof TurnTextDelta && next instanceof TurnTextDelta) return last.joined(next);
  if (last.type !== "reasoning-delta" || next.type !== "reasoning-delta") return undefined;
  if (last.messageId !== next.messageId) return undefined;
  return { ...next, textDelta: last.textDelta + next.textDelta };
}

/** A text increment. The message with the text so far is built only when it is read. */
export class TurnTextDelta {
  readonly type = "delta";
  readonly textDelta: string;
  readonly #envelope: Omit<ConversationMessage, "content">;
  readonly #text: string;

  constructor(textDelta: string, textSoFar: string, envelope: Omit<ConversationMessage, "content">) {
    this.textDelta = textDelta;
    this.#text = textSoFar;
    this.#envelope = envelope;
  }

  get delta(): ConversationMessage {
    return { ...this.#envelope, content: [{ type: "text", text: this.#text }] };
  }

  /** Returns plain data, for callers that pass events on as JSON. */
  toJSON(): { type: "delta"; delta: ConversationMessage; textDelta: string } {
    return { type: this.type, delta: this.delta, textDelta: this.textDelta };
  }

  /** Joins this increment and the next one if they belong to the same message. */
  joined(next: TurnTextDelta): TurnTextDelta | undefined {
    if (next.#envelope.id !== this.#envelope.id) return undefined;
    return new TurnTextDelta(this.textDelta + next.textDelta, next.#text, next.#envelope);
  }
}
