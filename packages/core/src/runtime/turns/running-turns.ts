import type { OpenTurn } from "../delivery/open-turn.js";
import type { TurnRun } from "./turn-run.js";

/** A turn that runs on this node. */
export interface RunningTurn {
  readonly run: TurnRun;
  /** Resolves when the run has ended and its turn is no longer in the table. */
  readonly ended: Promise<void>;
}

/** The table of the turns that run on this node, at most one per conversation. */
export class RunningTurns {
  readonly #byConversation = new Map<string, RunningTurn>();

  get size(): number {
    return this.#byConversation.size;
  }

  sizeOf(owner: string): number {
    let count = 0;
    for (const { run } of this.#byConversation.values()) if (run.owner === owner) count += 1;
    return count;
  }

  get(conversationId: string): RunningTurn | undefined {
    return this.#byConversation.get(conversationId);
  }

  /** Returns the turn that runs here, unless it is lost. */
  active(conversationId: string): OpenTurn | undefined {
    const run = this.#byConversation.get(conversationId)?.run;
    return run?.isLost ? undefined : run?.live;
  }

  all(): RunningTurn[] {
    return [...this.#byConversation.values()];
  }

  add(running: RunningTurn): void {
    this.#byConversation.set(running.run.live.conversationId, running);
  }

  /** Removes a turn, unless another one has taken its place. */
  remove(live: OpenTurn): void {
    const { conversationId } = live;
    if (this.#byConversation.get(conversationId)?.run.live === live) {
      this.#byConversation.delete(conversationId);
    }
  }

  /** Resolves when nothing runs here any more. */
  async allEnded(): Promise<void> {
    while (this.#byConversation.size > 0) await Promise.all(this.all().map(({ ended }) => ended));
  }
}
