import type { AgentEvent, TurnDoneEvent, Usage } from "@parley/wire";

/** A turn's events as one result. */
export interface AnswerResult {
  readonly conversationId?: string;
  readonly turnId?: string;
  readonly model?: string;
  readonly reason?: string;
  /** All that the model said, its texts apart by an empty line. */
  readonly text: string;
  readonly usage?: Usage;
  readonly durationMs?: number;
  readonly contextSize?: number;
  readonly error?: { readonly code?: string; readonly message: string };
}

/** Folds the events of one turn. They may be told again from the start: the same parts are then the same. */
export class AnswerFold {
  readonly #texts = new Map<string, string>();
  #turn: { conversationId?: string; turnId?: string; model?: string } = {};
  #done: TurnDoneEvent | undefined;
  #error: { code?: string; message: string } | undefined;

  get conversationId(): string | undefined {
    return this.#turn.conversationId;
  }

  /** The model's texts so far, by part. */
  get texts(): ReadonlyMap<string, string> {
    return this.#texts;
  }

  /** The model came to its end, or was cut at a limit: there is an answer. */
  get succeeded(): boolean {
    return this.#done !== undefined && !["error", "aborted", "interrupted"].includes(this.#done.reason);
  }

  take(event: AgentEvent | { readonly type: "again" }): void {
    switch (event.type) {
      case "again":
        this.#texts.clear();
        this.#error = undefined;
        this.#done = undefined;
        return;
      case "user-message":
        this.#turn = { ...this.#turn, conversationId: event.conversationId, turnId: event.turnId };
        return;
      case "turn-start":
        this.#turn = {
          ...this.#turn,
          conversationId: event.conversationId,
          turnId: event.turnId,
          ...(event.model === undefined ? {} : { model: event.model }),
        };
        return;
      case "text-delta": {
        const key = partKey(event);
        this.#texts.set(key, (this.#texts.get(key) ?? "") + event.delta);
        return;
      }
      case "error":
        this.#error = { message: event.message, ...(event.code === undefined ? {} : { code: event.code }) };
        return;
      case "done":
        this.#done = event;
        return;
      default:
    }
  }

  result(): AnswerResult {
    const done = this.#done;
    return {
      ...this.#turn,
      ...(done === undefined ? {} : { reason: done.reason }),
      text: [...this.#texts.values()].join("\n\n"),
      ...(done?.usage === undefined ? {} : { usage: done.usage }),
      ...(done?.durationMs === undefined ? {} : { durationMs: done.durationMs }),
      ...(done?.contextSize === undefined ? {} : { contextSize: done.contextSize }),
      ...(this.#error === undefined ? {} : { error: this.#error }),
    };
  }
}

/** Which part a delta belongs to. */
export function partKey(event: { readonly stepId?: string; readonly partIndex?: number }): string {
  return `${event.stepId ?? ""} ${event.partIndex ?? 0}`;
}
