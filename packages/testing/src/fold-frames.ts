import type { SubscriptionFrame } from "@parley/fold";
import { inputChunk, omitUndefined, outputChunk } from "@parley/fold";
import type { Chunk, StoredChunk } from "@parley/wire";

/** A message as a client shows it: from committed chunks, or from the events of an open turn. */
export interface FoldedMessage {
  readonly messageId: string;
  readonly role: StoredChunk["role"];
  readonly turnId: string | undefined;
  readonly parts: readonly Chunk[];
}

/** State of a client for a conversation after some frames. */
export interface FoldedConversation {
  /** Everything that is committed, by seq. */
  readonly chunks: readonly StoredChunk[];
  /** Committed messages, then those of the open turn that are not committed yet. */
  readonly messages: readonly FoldedMessage[];
  readonly status: string | undefined;
  /** The cursor to reconnect with. */
  readonly cursor: string | undefined;
  /** Turns that were reported sealed, with their reasons. */
  readonly sealed: ReadonlyMap<string, string>;
}

interface Provisional {
  readonly messageId: string;
  readonly role: StoredChunk["role"];
  readonly turnId: string;
  readonly parts: Map<number, Chunk>;
}

/**
 * A reference client: folds frames into what a page would show. Committed chunks replace the provisional state of the
 * same message, a reset and a seal end the provisional state of a turn, and events about a committed message change
 * nothing. So it ends in the same state however often it was cut off and resumed, which it is meant to check.
 */
export class FrameFold {
  readonly #chunks = new Map<number, StoredChunk>();
  readonly #committed = new Set<string>();
  #provisional = new Map<string, Provisional>();
  readonly #sealed = new Map<string, string>();
  #status: string | undefined;
  #cursor: string | undefined;

  get state(): FoldedConversation {
    const chunks = [...this.#chunks.values()].sort((a, b) => a.seq - b.seq);
    const messages: FoldedMessage[] = [];
    for (const chunk of chunks) {
      const last = messages.at(-1);
      if (last !== undefined && last.messageId === chunk.messageId) {
        messages[messages.length - 1] = { ...last, parts: [...last.parts, chunk.chunk] };
      } else {
        const { messageId = `seq ${chunk.seq}`, role, turnId } = chunk;
        messages.push({ messageId, role, turnId, parts: [chunk.chunk] });
      }
    }
    for (const { messageId, role, turnId, parts } of this.#provisional.values()) {
      const ordered = [...parts].sort(([a], [b]) => a - b).map(([, part]) => part);
      messages.push({ messageId, role, turnId, parts: ordered });
    }
    return { chunks, messages, status: this.#status, cursor: this.#cursor, sealed: this.#sealed };
  }

  apply(frame: SubscriptionFrame): void {
    switch (frame.type) {
      case "chat.snapshot":
        this.#status = frame.meta.status;
        break;
      case "chat.reset":
        if (frame.turnId === undefined) this.#forgetAll();
        else this.#forget(frame.turnId);
        break;
      case "chat.chunks":
        for (const chunk of frame.chunks) {
          this.#chunks.set(chunk.seq, chunk);
          if (chunk.messageId === undefined) continue;
          this.#committed.add(chunk.messageId);
          this.#provisional.delete(chunk.messageId);
        }
        break;
      case "chat.delta":
        this.#event(frame.event);
        break;
      default:
        frame satisfies never;
    }
    this.#cursor = frame.cursor ?? this.#cursor;
  }

  #event(event: Extract<SubscriptionFrame, { type: "chat.delta" }>["event"]): void {
    switch (event.type) {
      case "status":
        this.#status = event.status;
        return;
      case "user-message":
      case "steering": {
        const messages = event.messages ?? [
          { messageId: ("messageId" in event ? event.messageId : undefined) ?? "", text: event.text },
        ];
        for (const { messageId, text } of messages) {
          this.#open(messageId, "user", event.turnId)?.parts.set(0, { type: "text", text });
        }
        return;
      }
      case "text-delta":
      case "reasoning-delta": {
        const message = this.#open(event.messageId ?? "", "assistant", event.turnId);
        const index = event.partIndex ?? 0;
        const before = message?.parts.get(index);
        const text = before !== undefined && "text" in before ? before.text : "";
        const type = event.type === "text-delta" ? "text" : "thinking";
        message?.parts.set(index, { type, text: text + event.delta });
        return;
      }
      case "tool-call": {
        const { toolCallId, toolName, input, argumentsText, stepId } = event;
        const message = this.#open(event.messageId ?? "", "assistant", event.turnId);
        message?.parts.set(event.partIndex ?? 0, {
          type: "tool-call",
          toolCallId,
          toolName,
          input,
          stepId,
          ...omitUndefined({ argumentsText }),
        });
        return;
      }
      case "tool-result": {
        const { toolCallId, toolName, content, isError, stepId, durationMs, interrupted } = event;
        this.#open(event.messageId ?? "", "tool", event.turnId)?.parts.set(0, {
          type: "tool-result",
          toolCallId,
          toolName,
          content,
          isError,
          stepId,
          ...omitUndefined({ durationMs, interrupted }),
        });
        return;
      }
      case "input-request":
      case "input-response":
        this.#open(event.messageId, "system", event.turnId)?.parts.set(0, inputChunk(event.input));
        return;
      case "output-invalid":
        this.#open(event.messageId, "system", event.turnId)?.parts.set(0, outputChunk(event.output));
        return;
      case "turn-sealed":
        this.#forget(event.turnId);
        this.#sealed.set(event.turnId, event.reason ?? "");
        return;
      default:
    }
  }

  #open(messageId: string, role: StoredChunk["role"], turnId: string): Provisional | undefined {
    if (this.#committed.has(messageId) || this.#sealed.has(turnId)) return undefined;
    const known = this.#provisional.get(messageId);
    if (known !== undefined) return known;
    const message: Provisional = { messageId, role, turnId, parts: new Map() };
    this.#provisional.set(messageId, message);
    return message;
  }

  #forgetAll(): void {
    this.#chunks.clear();
    this.#committed.clear();
    this.#provisional.clear();
    this.#sealed.clear();
  }

  #forget(turnId: string): void {
    this.#provisional = new Map([...this.#provisional].filter(([, message]) => message.turnId !== turnId));
  }
}
