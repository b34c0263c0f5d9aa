import type { Uses } from "../environment.js";

/** Marks of conversations that hold a single response, for callers that keep the history themselves. */
export const singleResponse = { origin: "responses", idPrefix: "oa." } as const;

/** When and how many conversations are looked for that are past their time. */
const retentionPace = {
  /** The longest time between two looks. */
  sweepMs: 3_600_000,
  batch: 100,
};

/** Removes a conversation unless it was used meanwhile. Resolves with the ids of what is gone. */
type Remove = (owner: string, conversationId: string, unusedForMs: number) => Promise<readonly string[]>;

/**
 * Removes conversations that hold a single response, a time after their last use. Callers that keep the history
 * themselves leave one behind with every request, and no list shows them. Every node looks, at its start and then once an
 * hour; what another one has removed, or somebody uses again meanwhile, is left alone.
 */
export class ResponseRetention {
  readonly #env: Uses<"root" | "clock" | "report">;
  readonly #keepMs: number | undefined;
  readonly #remove: Remove;
  #isStopped = false;
  #cancel: () => void = () => {};
  #working: Promise<void> | undefined;

  /** Without `keepMs`, responses are kept for good. */
  constructor(env: Uses<"root" | "clock" | "report">, keepMs: number | undefined, remove: Remove) {
    this.#env = env;
    this.#keepMs = keepMs;
    this.#remove = remove;
  }

  /** Begins to look. Does not wait for it. */
  start(): void {
    const keepMs = this.#keepMs;
    if (keepMs === undefined || this.#isStopped) return;
    this.#working = this.#sweep(keepMs)
      .catch((error: unknown) => this.#env.report(error, "response retention"))
      .finally(() => {
        if (this.#isStopped) return;
        this.#cancel = this.#env.clock.after(Math.min(keepMs, retentionPace.sweepMs), () => this.start());
      });
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#working;
  }

  async #sweep(forMs: number): Promise<void> {
    const query = { ...singleResponse, forMs, limit: retentionPace.batch };
    while (!this.#isStopped) {
      const unused = await this.#env.root.findUnused(query);
      let removed = 0;
      for (const { owner, id } of unused) {
        if (this.#isStopped) return;
        removed += (await this.#remove(owner, id, forMs)).length;
      }
      // A batch of which nothing could be removed would come again.
      if (unused.length < query.limit || removed === 0) return;
    }
  }
}
