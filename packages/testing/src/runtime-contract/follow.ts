import type { ParleyError } from "@parley/core/errors";
import type { OwnerRuntime, SubscriptionFrame } from "@parley/core/runtime";
import type { AgentEvent } from "@parley/wire";
import { checkEqual } from "../contract-case.js";
import { checkEventOrder } from "../event-order.js";
import { type FoldedConversation, FrameFold } from "../fold-frames.js";

/** The kinds of events that are not in rows, listed here so that the table of traits is not checked by itself. */
const figureKinds: ReadonlySet<AgentEvent["type"]> = new Set([
  "turn-start",
  "usage",
  "step-complete",
  "done",
  "turn-sealed",
]);

/** The events of a subscription, without those that a reset withdrew. */
class ReceivedEvents {
  readonly list: AgentEvent[] = [];
  /** Number of events that are in rows. */
  #committed = 0;

  take(frame: SubscriptionFrame): void {
    if (frame.type === "chat.chunks") this.#committed = this.list.length;
    else if (frame.type === "chat.reset") this.#takeBack();
    else if (frame.type === "chat.delta") this.list.push(frame.event);
  }

  /** Drops the events since the last rows, except those in the rows: steering messages and requests. */
  #takeBack(): void {
    const provisional = this.list.splice(this.#committed);
    const inRows = new Set<AgentEvent["type"]>(["steering", "input-request", "output-invalid"]);
    this.list.push(...provisional.filter(({ type }) => inRows.has(type)));
  }

  /** Identifies the events that are not in rows. */
  get figures(): string[] {
    const keys = this.list.flatMap((event) =>
      figureKinds.has(event.type) && "turnId" in event
        ? [`${event.turnId} ${event.type} ${"stepId" in event ? event.stepId : ""}`]
        : [],
    );
    return [...new Set(keys)].sort();
  }
}

/**
 * A client that follows a conversation: keeps its frames and folds them. One that follows from the beginning reads
 * the events beside it, without a cursor, because a subscriber with one is not sent the events that are in rows.
 */
export class Follow {
  readonly frames: SubscriptionFrame[] = [];
  /** Reason that the subscription ended, if it did by itself. */
  ended: { readonly error: ParleyError | undefined } | undefined;
  readonly #fold: FrameFold;
  readonly #own = new ReceivedEvents();
  readonly #read: ReceivedEvents;
  readonly #leave: (() => void)[] = [];

  constructor(me: OwnerRuntime, conversationId: string, cursor?: string, fold = new FrameFold()) {
    this.#fold = fold;
    this.#read = cursor === "0" ? new ReceivedEvents() : this.#own;
    if (this.#read !== this.#own) {
      const onFrame = (frame: SubscriptionFrame) => this.#read.take(frame);
      this.#leave.push(me.attach(conversationId, undefined, { onFrame, onEnd: () => {} }));
    }
    this.#leave.push(
      me.attach(conversationId, cursor, {
        onFrame: (frame) => this.#take(frame),
        onEnd: (error) => {
          this.ended = { error };
        },
      }),
    );
  }

  /** The events that were received, without those that a reset withdrew. */
  get events(): readonly AgentEvent[] {
    return this.#read.list;
  }

  get state(): FoldedConversation {
    return this.#fold.state;
  }

  get cursor(): string | undefined {
    return this.#fold.state.cursor;
  }

  /** The text that the client shows, one line per message. */
  get lines(): string[] {
    return linesOf(this.state);
  }

  has(type: AgentEvent["type"], turnId?: string): boolean {
    return this.events.some(
      (event) =>
        event.type === type && (turnId === undefined || ("turnId" in event && event.turnId === turnId)),
    );
  }

  count(type: AgentEvent["type"]): number {
    return this.events.filter((event) => event.type === type).length;
  }

  /**
   * For a client that was connected from the beginning: checks that the events keep the protocol's order, and that
   * its own subscription has received every event that is not in rows.
   */
  checkOrder(options: { readonly unfinished?: boolean } = {}): void {
    checkEqual(checkEventOrder(this.events, options), [], "the order of what a subscriber receives");
    checkEqual(this.#own.figures, this.#read.figures, "the figures that a subscriber with a cursor receives");
  }

  close(): void {
    for (const leave of this.#leave) leave();
  }

  #take(frame: SubscriptionFrame): void {
    this.frames.push(frame);
    this.#fold.apply(frame);
    this.#own.take(frame);
  }
}

/** Returns what a client shows, one line per message. */
export function linesOf(state: FoldedConversation): string[] {
  return state.messages.map(({ role, parts }) => {
    const shown = parts.map((part) =>
      part.type === "tool-call"
        ? `[${part.toolName}]`
        : part.type === "tool-result"
          ? `[${part.content}]`
          : "text" in part
            ? part.text
            : `[${part.type}]`,
    );
    return `${role}: ${shown.join(" ")}`;
  });
}
