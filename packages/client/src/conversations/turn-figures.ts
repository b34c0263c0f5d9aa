import type { Request } from "../requests/request.js";
import { applyMetrics } from "../state/apply-history.js";
import type { ConversationState, MessageState } from "../state/conversation-state.js";

/** How many turns' figures are asked for at once: more than a page of history has, most of the time. */
const pageSize = 100;

/** What they are of, and where they are shown. */
export interface TurnFiguresOptions {
  readonly conversationId: string;
  readonly request: Request;
  readonly state: () => ConversationState;
  readonly change: (by: (state: ConversationState) => ConversationState) => void;
  /** Whether the conversation is still followed. */
  readonly isWanted: () => boolean;
  /** How long an answer may take: those who ask later wait for it. */
  readonly loadMs: number;
}

/**
 * How turns ended, and their figures. Who hears a turn end is told them; those of turns that ended while nobody
 * listened are in the metrics alone, and are asked for.
 */
export class TurnFigures {
  readonly #options: TurnFiguresOptions;
  /** Whether a turn ended while nobody listened. */
  #isDue = false;
  /** The last of those who ask: one at a time, for the next one may find that nothing is missing. */
  #loading: Promise<void> = Promise.resolve();

  constructor(options: TurnFiguresOptions) {
    this.#options = options;
  }

  turnEndedUnheard(): void {
    this.#isDue = true;
  }

  /** Asks from the newest turn on, or from before a given one, until nothing that is loaded lacks them. */
  load(before?: string): void {
    this.#loading = this.#loading.then(() => this.#loadMissing(before));
  }

  /** The first of the loaded turns that is known to have ended: those before it were not asked for yet. */
  oldestKnownTurn(): string | undefined {
    const { messages, turns } = this.#options.state();
    const isKnown = ({ turnId }: MessageState) => turnId !== undefined && turns[turnId]?.reason !== undefined;
    return messages.find(isKnown)?.turnId;
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
        // Behind a page of turns none of which is loaded, no other one is either.
        isHere = turns.some(({ turnId }) => Object.hasOwn(state().turns, turnId));
        change((current) => applyMetrics(current, turns));
        next = nextBefore;
      } while (next !== undefined && isHere && this.#isUnknown());
    } catch {
      // They are shown as unknown, until the next time.
    }
  }

  #isUnknown(): boolean {
    return Object.values(this.#options.state().turns).some(
      ({ status, reason }) => status === "sealed" && reason === undefined,
    );
  }
}
