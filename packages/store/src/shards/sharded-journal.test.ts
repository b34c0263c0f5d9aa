import { ParleyError } from "@parley/core/errors";
import type { JournalBatch, JournalOutcome } from "@parley/core/ports";
import { describe, expect, it, vi } from "vitest";
import type { Shard } from "./shard.js";
import type { ShardMap } from "./shard-map.js";
import { ShardedJournal } from "./sharded-journal.js";

const moved = new ParleyError("store_unavailable", "moved", { details: { reason: "owner_moved" } });
const broken = new ParleyError("internal", "broken");

type Flush = (batches: readonly JournalBatch[]) => Promise<JournalOutcome[]>;

const batchOf = (owner: string): JournalBatch => ({ owner }) as JournalBatch;
const ownersOf = (batches: readonly JournalBatch[]) => batches.map(({ owner }) => owner).join("");

/** Creates a journal on shards `a` and `b`, in which owners begin with the name of their shard. */
function createJournal(flushes: Readonly<Record<string, Flush>>, away: readonly string[] = []) {
  const calls: string[] = [];
  const shards = new Map(
    Object.entries(flushes).map(([name, flush]) => {
      const flushJournal: Flush = (batches) => {
        calls.push(ownersOf(batches));
        return flush(batches);
      };
      return [name, { name, store: { flushJournal } } as Partial<Shard> as Shard];
    }),
  );
  const places = new Map<string, string>();
  const known = (owner: string) => shards.get(places.get(owner) ?? owner.slice(0, 1));
  const map = {
    known,
    async call<Result>(owner: string, work: (shard: Shard) => Promise<Result>) {
      const shard = known(owner);
      if (shard === undefined) throw new ParleyError("store_unavailable", "no map");
      return work(shard);
    },
  } as Partial<ShardMap> as ShardMap;
  return { journal: new ShardedJournal(map, ({ name }) => away.includes(name)), calls, places };
}

const ok: Flush = async (batches) => batches.map(() => "ok");
const never: Flush = () => new Promise(() => {});

describe("the journal of several shards", () => {
  it("writes all batches of a shard at once, and those of unknown owners alone", async () => {
    const { journal, calls } = createJournal({ a: ok, b: ok });
    const outcomes = await journal.flush(["a1", "b1", "x1", "a2"].map(batchOf));
    expect(outcomes).toEqual(["ok", "ok", "unavailable", "ok"]);
    expect(calls).toEqual(["a1a2", "b1"]);
  });

  it("fails one batch alone that its shard refuses", async () => {
    const { journal } = createJournal({
      a: async (batches) => {
        if (ownersOf(batches).includes("a2")) throw broken;
        return batches.map(() => "ok");
      },
    });
    expect(await journal.flush(["a1", "a2", "a3"].map(batchOf))).toEqual(["ok", { error: broken }, "ok"]);
  });

  it("lets no owner wait for one who was moved to a shard that hangs", async () => {
    vi.useFakeTimers();
    try {
      const fixture = createJournal({
        a: async (batches) => {
          if (batches.length === 1) return ["ok"];
          fixture.places.set("a1", "b");
          throw moved;
        },
        b: never,
      });
      const flushed = fixture.journal.flush(["a1", "a2", "a3"].map(batchOf));
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await flushed).toEqual(["unavailable", "ok", "ok"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("does not send again what may still be answered, and takes the answer when it is there", async () => {
    vi.useFakeTimers();
    try {
      let answer: (outcomes: JournalOutcome[]) => void = () => {};
      const slow: Flush = () =>
        new Promise((resolve) => {
          answer = resolve;
        });
      const { journal, calls } = createJournal({ a: ok, b: slow });
      const batch = batchOf("b1");
      // Alone, too: the next flush is for others.
      const first = journal.flush([batch]);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await first).toEqual(["unavailable"]);
      expect(await journal.flush([batchOf("a1"), batch])).toEqual(["ok", "unavailable"]);
      answer(["unavailable"]);
      await vi.advanceTimersByTimeAsync(0);
      const again = journal.flush([batch]);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await again).toEqual(["unavailable"]);
      answer(["ok"]);
      await vi.advanceTimersByTimeAsync(0);
      expect(await journal.flush([batch])).toEqual(["ok"]);
      expect(calls).toEqual(["b1", "a1", "b1"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("waits for no server that is away", async () => {
    const { journal, calls } = createJournal({ a: ok, b: never }, ["b"]);
    expect(await journal.flush([batchOf("b1")])).toEqual(["unavailable"]);
    expect(await journal.flush([batchOf("b2"), batchOf("a1")])).toEqual(["unavailable", "ok"]);
    expect(calls).toEqual(["b1", "b2", "a1"]);
  });
});
