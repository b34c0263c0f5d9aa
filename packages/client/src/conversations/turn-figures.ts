import type { Request } from "../requests/request.js";
import { applyMetrics } from "../state/apply-history.js";
import type { ConversationState, MessageState } from "../state/conversation-state.js";

/** Turns whose figures are requested at once: usually more than a page of history has. */
const pageSize = 100;

/** Dependencies of the figures of one conversation. */
export interface TurnFiguresOptions {
  readonly conversationId: string;
  readonly request: Request;
  readonly state: () => ConversationState;
  readonly change: (by: (state: ConversationState) => ConversationState) => void;
  /** Returns true while the conversation is still followed. */
  readonly isWanted: () => boolean;
  /** Time that a response may take: later requests wait for it. */
  readonly loadMs: number;
}

/**
 * Outcomes and figures of turns. A client that receives the end of a turn gets them with it; those of turns that ended
 * while it was not subscribed are only in the metrics, and are requested.
 */
export class TurnFigures {
  readonly #options: TurnFiguresOptions;
  /** True if a turn ended while the client was not subscribed. */
  #isDue = false;
  /** The last request: one at a time, since the next one may find that nothing is missing. */
  #loading: Promise<void> = Promise.resolve();

  constructor(options: TurnFiguresOptions) {
    this.#options = options;
  }

  turnEndMissed(): void {
    this.#isDue = true;
  }

  /** Requests figures from the newest turn on, or from before a given one, until no loaded turn lacks them. */
  load(before?: string): void {
    this.#loading = this.#loading.then(() => this.#loadMissing(before));
  }

  /**
   * Returns the turn before which to request the figures of a page that ends with this seq: the first turn behind the page
   * that is known to have ended. Before a gap there is none, and the last turn of the page is used.
   */
  turnBehind(seq: number): string | undefined {
    const { messages, turns, gaps } = this.#options.state();
    const isCut = gaps.some(({ afterSeq }) => afterSeq === seq);
    const isIt = ({ turnId = "", firstSeq = 0, lastSeq = 0 }: MessageState) =>
      isCut ? lastSeq >= seq && turnId !== "" : firstSeq > seq && turns[turnId]?.reason !== undefined;
    return messages.find(isIt)?.turnId;
  }

  async #loadMissing(before: string | undefined): Promise<void> {
    if (!(this.#isDue || this.#isUnknown())) return;
    this.#isDue = false;
    const { conversationId, request, state, change, isWanted, loadMs } = this.#options;
    try {
      let next = before;
      let isHere = true;
      do {
        if (!isWanted()) return;
        const { turns, nextBefore } = await request("GET /conversations/:id/metrics", {
          params: { id: conversationId },
          query: { limit: pageSize, before: next },
          signal: AbortSignal.timeout(loadMs),
        });
        // After a page without any loaded turn, no further page has one.
        isHere = turns.some(({ turnId }) => Object.hasOwn(state().turns, turnId));
        change((current) => applyMetrics(current, turns));
        next = nextBefore;
      } while (next !== undefined && isHere && this.#isUnknown());
    } catch {
      // They are shown as unknown until the next attempt.
    }
  }

  #isUnknown(): boolean {
    return Object.values(this.#options.state().turns).some(
      ({ status, reason }) => status === "sealed" && reason === undefined,
    );
  }
}
