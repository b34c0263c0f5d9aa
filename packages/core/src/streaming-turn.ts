import type { ParleyError } from "./errors.js";
import type { Conversation, ConversationMessage } from "./messages/message.js";
import type { ToolCallContentPart, ToolResultContentPart } from "./messages/part.js";
import type { ConversationTurn } from "./ports.js";

/** What a turn left behind. */
export interface TurnOutput {
  /** The conversation after this turn. */
  conversation: Conversation;
  /** The turn as it was stored. `metadata.reason` says why it ended. */
  turn: ConversationTurn;
  /** The assistant messages of this turn, in order. */
  assistantMessages: ConversationMessage[];
  /** The tool messages of this turn, in order. Absent if there are none. */
  toolMessages?: ConversationMessage[];
}

/**
 * What a running turn says. `delta` carries the assistant message with its text so far, built when it is read;
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
 * A turn under way. It goes on whether or not anyone reads: iterating only watches, leaving the iteration stops
 * the watching, and the turn is stopped by its signal alone. One iteration sees every event from the first on; a
 * reader that is far behind gets the text it missed in fewer, longer deltas.
 *
 * `final` and the iteration agree: either the last event is `completed` with the output that `final` resolves to,
 * or the turn failed, and the iteration ends by throwing the `ParleyError` that `final` rejects with. A rejection
 * that nobody awaits is not reported as unhandled.
 */
export interface StreamingTurn extends AsyncIterable<StreamingTurnEvent> {
  final: Promise<TurnOutput>;
}

/** How many events may wait for a reader before text is joined. */
const maxWaiting = 256;

/** The reader's side of a running turn, and where the engine writes. */
export class TurnFeed implements StreamingTurn {
  readonly final: Promise<TurnOutput>;
  #settle: { resolve: (output: TurnOutput) => void; reject: (error: ParleyError) => void } | undefined;
  #waiting: StreamingTurnEvent[] = [];
  #head = 0;
  /** Reads that wait for an event, first come first served. */
  #readers: {
    resolve: (result: IteratorResult<StreamingTurnEvent>) => void;
    reject: (error: unknown) => void;
  }[] = [];
  #end: { error?: ParleyError } | undefined;
  #left = false;

  /** `unread` says that nobody will iterate, so that nothing is kept for it. */
  constructor(options: { unread?: boolean } = {}) {
    this.#left = options.unread === true;
    this.final = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.final.catch(() => {});
  }

  /** False when nobody reads, or will: then nothing needs to be pushed. */
  get watched(): boolean {
    return !this.#left;
  }

  push(event: StreamingTurnEvent): void {
    if (this.#left || this.#end !== undefined) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader.resolve({ value: event, done: false });
      return;
    }
    const last = this.#waiting.at(-1);
    const joined = this.#waiting.length - this.#head > maxWaiting ? join(last, event) : undefined;
    if (joined === undefined) this.#waiting.push(event);
    else this.#waiting[this.#waiting.length - 1] = joined;
  }

  complete(output: TurnOutput): void {
    this.push({ type: "completed", output });
    this.#finish({});
    this.#settle?.resolve(output);
  }

  fail(error: ParleyError): void {
    this.#finish({ error });
    this.#settle?.reject(error);
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamingTurnEvent> {
    return {
      next: () => this.#next(),
      return: () => {
        this.#leave();
        return Promise.resolve({ value: undefined, done: true });
      },
    };
  }

  #next(): Promise<IteratorResult<StreamingTurnEvent>> {
    const event = this.#waiting[this.#head];
    if (event !== undefined) {
      this.#head += 1;
      if (this.#head > maxWaiting) {
        this.#waiting = this.#waiting.slice(this.#head);
        this.#head = 0;
      }
      return Promise.resolve({ value: event, done: false });
    }
    if (this.#end?.error !== undefined && !this.#left) {
      const { error } = this.#end;
      // An iteration throws once; asking again finds it ended.
      this.#end = {};
      return Promise.reject(error);
    }
    if (this.#end !== undefined || this.#left) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
    });
  }

  #finish(end: { error?: ParleyError }): void {
    this.#end = end;
    const [first] = this.#readers;
    if (end.error !== undefined && first !== undefined) {
      this.#readers.shift();
      this.#end = {};
      first.reject(end.error);
    }
    this.#endReaders();
  }

  #leave(): void {
    this.#left = true;
    this.#waiting = [];
    this.#head = 0;
    this.#endReaders();
  }

  #endReaders(): void {
    for (const reader of this.#readers) reader.resolve({ value: undefined, done: true });
    this.#readers = [];
  }
}

/** Two events as one, where the second only continues the text of the first. */
function join(
  last: StreamingTurnEvent | undefined,
  next: StreamingTurnEvent,
): StreamingTurnEvent | undefined {
  if (last instanceof TurnTextDelta && next instanceof TurnTextDelta) return last.joined(next);
  if (last?.type !== "reasoning-delta" || next.type !== "reasoning-delta") return undefined;
  if (last.messageId !== next.messageId) return undefined;
  return { ...next, textDelta: last.textDelta + next.textDelta };
}

/** A text increment. The message with the text so far is built only when someone reads it. */
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

  /** As plain data, for those who pass events on as JSON. */
  toJSON(): { type: "delta"; delta: ConversationMessage; textDelta: string } {
    return { type: this.type, delta: this.delta, textDelta: this.textDelta };
  }

  /** This increment and the next one as one, if they belong to the same message. */
  joined(next: TurnTextDelta): TurnTextDelta | undefined {
    if (next.#envelope.id !== this.#envelope.id) return undefined;
    return new TurnTextDelta(this.textDelta + next.textDelta, next.#text, next.#envelope);
  }
}
