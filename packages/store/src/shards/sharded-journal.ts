import { isParleyError } from "@parley/core/errors";
import type { JournalBatch, JournalOutcome } from "@parley/core/ports";
import { answersOf } from "./ask-shards.js";
import { isMoved } from "./guard-owners.js";
import type { Shard } from "./shard.js";
import { isUnknownShard, type ShardMap } from "./shard-map.js";

/**
 * Appends batches of the journal to the shards of their owners, all batches of a shard at once. A shard that does not
 * answer does not affect the others, and neither does an owner that is being moved: each batch has an outcome of its
 * own. One that takes too long is not sent again while its answer may still arrive: a slow shard would get more to do.
 */
export class ShardedJournal {
  readonly #map: ShardMap;
  readonly #isAway: (shard: Shard) => boolean;
  /** Outcomes of the batches that were sent. One that is unknown is dropped: the batch has to be sent again. */
  readonly #outcomes = new WeakMap<JournalBatch, Promise<JournalOutcome>>();

  constructor(map: ShardMap, isAway: (shard: Shard) => boolean) {
    this.#map = map;
    this.#isAway = isAway;
  }

  async flush(batches: readonly JournalBatch[]): Promise<JournalOutcome[]> {
    this.#send(batches.filter((batch) => !this.#outcomes.has(batch)));
    const answers = await answersOf(
      batches,
      async (batch) => this.#outcomes.get(batch) ?? "unavailable",
      ({ owner }) => {
        const shard = this.#map.known(owner);
        return shard !== undefined && this.#isAway(shard);
      },
    );
    return answers.map((answer) => ("value" in answer ? answer.value : "unavailable"));
  }

  #send(batches: readonly JournalBatch[]): void {
    const groups = new Map<Shard, JournalBatch[]>();
    for (const batch of batches) {
      const shard = this.#map.known(batch.owner);
      const group = shard === undefined ? undefined : groups.get(shard);
      if (shard === undefined) this.#keep(batch, this.#sendAlone(batch));
      else if (group === undefined) groups.set(shard, [batch]);
      else group.push(batch);
    }
    for (const [{ store }, group] of groups) {
      const sent = store.flushJournal(group);
      for (const [place, batch] of group.entries()) {
        const outcome = sent.then(
          (outcomes) => outcomes[place] ?? "unavailable",
          // One batch can be the reason that all of them were refused.
          (error: unknown) =>
            isMoved(error) || (group.length > 1 && !isRetryable(error))
              ? this.#sendAlone(batch)
              : failedOutcome(error),
        );
        this.#keep(batch, outcome);
      }
    }
  }

  async #sendAlone(batch: JournalBatch): Promise<JournalOutcome> {
    try {
      const [outcome] = await this.#map.call(batch.owner, ({ store }) => store.flushJournal([batch]));
      return outcome ?? "unavailable";
    } catch (error) {
      return failedOutcome(error);
    }
  }

  #keep(batch: JournalBatch, outcome: Promise<JournalOutcome>): void {
    this.#outcomes.set(batch, outcome);
    void outcome.then((known) => {
      if (known === "unavailable") this.#outcomes.delete(batch);
    });
  }
}

/** Returns the outcome for a batch that failed. One whose owner is in a shard unknown here is another node's. */
function failedOutcome(error: unknown): JournalOutcome {
  if (isUnknownShard(error)) return "stale_fence";
  return isRetryable(error) ? "unavailable" : { error };
}

function isRetryable(error: unknown): boolean {
  return isParleyError(error) && error.retryable;
}
