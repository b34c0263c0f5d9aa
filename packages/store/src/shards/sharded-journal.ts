import { isParleyError } from "@parley/core/errors";
import type { JournalBatch, JournalOutcome } from "@parley/core/ports";
import { isMoved } from "./guard-owners.js";
import type { Shard } from "./shard.js";
import { isUnknownShard, type ShardMap } from "./shard-map.js";
import { within } from "./within.js";

/** Time that a flush waits for the answers of shards. */
const patienceMs = 1_000;

/** The flush of one batch. */
interface Sent {
  readonly answered: Promise<void>;
  outcome?: JournalOutcome;
}

/**
 * Appends batches of the journal to the shards of their owners, all batches of a shard at once. A shard that does not
 * answer does not affect the others, and neither does an owner that is being moved: each batch has an outcome of its
 * own. A flush waits for a short time only, and not at all for servers that are away. Its batches are not sent again
 * while their answers may still arrive, which a later flush returns: a slow shard would get more to do.
 */
export class ShardedJournal {
  readonly #map: ShardMap;
  readonly #isAway: (shard: Shard) => boolean;
  /** Batches that were sent. One whose outcome turns out to be unknown is sent again. */
  readonly #sent = new WeakMap<JournalBatch, Sent>();

  constructor(map: ShardMap, isAway: (shard: Shard) => boolean) {
    this.#map = map;
    this.#isAway = isAway;
  }

  async flush(batches: readonly JournalBatch[]): Promise<JournalOutcome[]> {
    const unsent = batches.filter((batch) => {
      const sent = this.#sent.get(batch);
      return sent === undefined || sent.outcome === "unavailable";
    });
    this.#send(unsent);
    const awaited = unsent.filter(({ owner }) => {
      const shard = this.#map.known(owner);
      return shard === undefined || !this.#isAway(shard);
    });
    if (awaited.length > 0) {
      await within(patienceMs, Promise.all(awaited.map((batch) => this.#sent.get(batch)?.answered)));
    }
    return batches.map((batch) => this.#sent.get(batch)?.outcome ?? "unavailable");
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
    const sent: Sent = {
      answered: outcome.then((known) => {
        sent.outcome = known;
      }),
    };
    this.#sent.set(batch, sent);
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
