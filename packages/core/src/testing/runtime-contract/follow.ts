import type { AgentEvent } from "@parley/wire";
import type { ParleyError } from "../../errors.js";
import type { OwnerRuntime, SubscriptionFrame } from "../../runtime/index.js";
import { checkEqual } from "../contract-case.js";
import { checkEventOrder } from "../event-order.js";
import { type FoldedConversation, FrameFold } from "../fold-frames.js";

/** A client that follows a conversation: keeps its frames, folds them, and checks the order of what it is told. */
export class Follow {
  readonly frames: SubscriptionFrame[] = [];
  /** What was told, without what a reset took back. */
  readonly events: AgentEvent[] = [];
  /** Why the subscription ended, if it did by itself. */
  ended: { readonly error: ParleyError | undefined } | undefined;
  readonly #fold: FrameFold;
  readonly #leave: () => void;
  /** How many events are in rows. */
  #committed = 0;

  constructor(me: OwnerRuntime, conversationId: string, cursor?: string, fold = new FrameFold()) {
    this.#fold = fold;
    this.#leave = me.attach(conversationId, cursor, {
      onFrame: (frame) => this.#take(frame),
      onEnd: (error) => {
        this.ended = { error };
      },
    });
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

  /** For a client that was there from the beginning: what it was told keeps the protocol's order. */
  checkOrder(options: { readonly unfinished?: boolean } = {}): void {
    checkEqual(checkEventOrder(this.events, options), [], "the order of what a subscriber is told");
  }

  close(): void {
    this.#leave();
  }

  /** What was told since the last rows is void, but for what the rows brought: steering messages. */
  #takeBack(): void {
    const provisional = this.events.splice(this.#committed);
    this.events.push(...provisional.filter(({ type }) => type === "steering"));
  }

  #take(frame: SubscriptionFrame): void {
    this.frames.push(frame);
    this.#fold.apply(frame);
    if (frame.type === "chat.chunks") this.#committed = this.events.length;
    else if (frame.type === "chat.reset") this.#takeBack();
    else if (frame.type === "chat.delta") this.events.push(frame.event);
  }
}

/** What a client shows, one line per message. */
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
