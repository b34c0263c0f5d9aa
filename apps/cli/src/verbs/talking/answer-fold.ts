import {
  applyEvent,
  type ConversationFold,
  emptyFold,
  omitUndefined,
  type TurnState,
  turnOf,
} from "@parley/fold";
import type { AgentEvent, CostSum, TurnOutput, Usage } from "@parley/wire";

/** A turn's events as one result. */
export interface AnswerResult {
  readonly conversationId?: string;
  readonly turnId?: string;
  readonly model?: string;
  readonly reason?: string;
  /** Number of requests that the turn waits for. Absent: it has ended. */
  readonly waiting?: number;
  /** All texts of the model, separated by an empty line. */
  readonly text: string;
  readonly usage?: Usage;
  readonly durationMs?: number;
  readonly contextSize?: number;
  /** Absent: the cost of every call is unknown. */
  readonly cost?: CostSum;
  readonly error?: { readonly code?: string; readonly message: string };
  /** The value of a turn that had to return data. */
  readonly output?: TurnOutput;
}

const failedReasons: readonly string[] = ["error", "aborted", "interrupted"];

/** Folds the events of one turn. They may be replayed from the start after an `again`. */
export class AnswerFold {
  #fold: ConversationFold = emptyFold("");
  #waiting: number | undefined;
  #output: TurnOutput | undefined;
  #ids: { readonly conversationId?: string; readonly turnId?: string } = {};

  get conversationId(): string | undefined {
    return this.#ids.conversationId;
  }

  /** The data that the turn returned, once it is sealed; undefined where it had to return none. */
  get output(): TurnOutput | undefined {
    return this.#output;
  }

  /** The model's texts so far, by the key of their part. */
  get texts(): ReadonlyMap<string, string> {
    const texts = new Map<string, string>();
    for (const { role, parts } of this.#fold.log.provisional) {
      if (role !== "assistant") continue;
      for (const { key, chunk } of parts) if (chunk.type === "text") texts.set(key, chunk.text);
    }
    return texts;
  }

  /** True if there is an answer: the model finished, or was cut at a limit. */
  get succeeded(): boolean {
    const reason = this.#turn?.reason;
    return reason !== undefined && !failedReasons.includes(reason);
  }

  take(event: AgentEvent | { readonly type: "again" }): void {
    if (event.type === "again") {
      this.#fold = emptyFold("");
      return;
    }
    this.#waiting = event.type === "status" ? event.waiting?.count : undefined;
    if ("turnId" in event) this.#ids = { conversationId: event.conversationId, turnId: event.turnId };
    if (event.type === "turn-sealed") this.#output = event.output;
    this.#fold = applyEvent(this.#fold, event, undefined);
  }

  result(): AnswerResult {
    const { model, reason, usage, durationMs, contextSize, cost, error } = this.#turn ?? {};
    return {
      ...this.#ids,
      ...omitUndefined({ waiting: this.#waiting }),
      text: [...this.texts.values()].join("\n\n"),
      ...omitUndefined({ model, reason, usage, durationMs, contextSize, cost }),
      ...omitUndefined({ error: error && named(error) }),
      ...omitUndefined({ output: this.#output }),
    };
  }

  get #turn(): TurnState | undefined {
    const { turnId } = this.#ids;
    return turnId === undefined ? undefined : turnOf(this.#fold.turns, turnId);
  }
}

function named({ code, message }: NonNullable<TurnState["error"]>): { code: string; message: string } {
  return { code, message };
}
