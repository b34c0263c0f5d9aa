import type { ConversationMeta } from "@parley/wire";

/** Remembered state of a conversation whose turn runs. */
interface Seen {
  readonly status: ConversationMeta["status"];
  readonly isWaiting: boolean;
  /** Time since which its turn has been running, as far as this page knows. */
  readonly since: number;
}

/** A turn that has ended, or has started to wait for a person. */
export interface EndedTurn {
  readonly meta: ConversationMeta;
  /** Duration for which this page saw it run. */
  readonly ranMs: number;
}

/** Compares each state of the list with the one before it. */
export class TurnWatch {
  #seen = new Map<string, Seen>();

  /** Takes the newest list; returns the turns that have ended, or started to wait, since the one before. */
  update(conversations: readonly ConversationMeta[], now: number): readonly EndedTurn[] {
    const ended: EndedTurn[] = [];
    const next = new Map<string, Seen>();
    for (const meta of conversations) {
      const before = this.#seen.get(meta.id);
      const isWaiting = meta.waiting !== undefined;
      const wasRunning = before?.status === "active" && !before.isWaiting;
      const isRunning = meta.status === "active" && !isWaiting;
      const since = wasRunning ? before.since : now;
      if (wasRunning && !isRunning) ended.push({ meta, ranMs: now - since });
      next.set(meta.id, { status: meta.status, isWaiting, since });
    }
    this.#seen = next;
    return ended;
  }
}
