import { createFaultyStore, createManualClock, createMemoryLogStore } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { ParleyError } from "../../errors.js";
import type { LogStoreRoot } from "../../ports/log-store.js";
import { SearchIndexer, searchPace } from "./search-indexer.js";

/** Creates an indexer on a store, from the number of messages of each owner that are not in the index. */
function createIndexer(missing: Record<string, number>) {
  const clock = createManualClock();
  const lag = new Map(Object.entries(missing));
  const calls: string[] = [];
  const reports: unknown[] = [];
  const progress: { indexed: number; done: boolean }[] = [];
  const { store, faults } = createFaultyStore({
    ...createMemoryLogStore({ clock }),
    async unindexedOwners({ after = "" }) {
      calls.push(`look after ${after}`);
      const behind = [...lag].filter(([, left]) => left > 0).map(([owner]) => owner);
      const [owner] = behind.filter((each) => each > after).toSorted();
      return owner === undefined ? { owners: [] } : { owners: [owner], next: owner };
    },
    async indexSearch({ owner, limit }) {
      calls.push(owner);
      const left = lag.get(owner) ?? 0;
      const indexed = Math.min(left, limit);
      lag.set(owner, left - indexed);
      return { indexed, more: left > indexed };
    },
  } satisfies LogStoreRoot);
  const indexer = new SearchIndexer({
    root: store,
    clock,
    hooks: { onSearchIndexed: (each) => void progress.push(each) },
    report: (error, where) => void reports.push([where, error instanceof ParleyError ? error.code : error]),
  });
  return { indexer, clock, calls, lag, reports, progress, faults };
}

describe("the search indexer", () => {
  it("looks through all owners at the start, and again after a while", async () => {
    const { indexer, clock, calls, lag } = createIndexer({ ada: 450, bob: 0, eve: 10 });
    indexer.start();
    await clock.advance(1_000);
    expect(calls).toEqual(["look after ", "ada", "ada", "ada", "look after ada", "eve", "look after eve"]);
    lag.set("bob", 5);
    calls.length = 0;
    await clock.advance(searchPace.sweepMs);
    expect(calls).toEqual(["look after ", "bob", "look after bob"]);
    await indexer.stop();
    expect(clock.pending).toBe(0);
  });

  it("adds what changes of an owner came together, a moment later, in one go", async () => {
    const { indexer, clock, calls } = createIndexer({ ada: 3, bob: 500 });
    for (const owner of ["ada", "ada", "bob", "ada"]) indexer.wake(owner);
    await clock.advance(searchPace.settleMs - 1);
    expect(calls).toEqual([]);
    await clock.advance(1_000);
    // No owner waits until a large one is done.
    expect(calls).toEqual(["ada", "bob", "bob", "bob"]);
    await indexer.stop();
  });

  it("takes on who is woken while it works", async () => {
    const { indexer, clock, calls, faults } = createIndexer({ ada: 1, bob: 1 });
    const held = faults.hold("indexSearch");
    indexer.wake("ada");
    await clock.advance(searchPace.settleMs);
    await held.reached;
    indexer.wake("bob");
    held.open();
    await clock.advance(searchPace.settleMs);
    expect(calls).toEqual(["ada", "bob"]);
    await indexer.stop();
  });

  it("reports what fails, and continues with the next look", async () => {
    const { indexer, clock, calls, reports, faults, lag } = createIndexer({ ada: 1 });
    faults.fail("indexSearch");
    indexer.wake("ada");
    await clock.advance(searchPace.settleMs);
    expect(reports).toEqual([["search index", "store_unavailable"]]);
    indexer.start();
    await clock.advance(0);
    expect(calls).toContain("ada");
    expect(lag.get("ada")).toBe(0);
    await indexer.stop();
  });

  it("adds what the other owners have if one owner's messages cannot be added", async () => {
    const { indexer, clock, reports, faults, lag } = createIndexer({ ada: 1, bob: 1, cid: 1 });
    faults.fail("indexSearch", "before", 2);
    for (const owner of ["ada", "bob", "cid"]) indexer.wake(owner);
    await clock.advance(searchPace.settleMs);
    expect(reports).toEqual([["search index", "store_unavailable"]]);
    expect([lag.get("ada"), lag.get("bob"), lag.get("cid")]).toEqual([1, 1, 0]);
    await indexer.stop();
  });

  it("says how it gets on where much was missing", async () => {
    const { indexer, clock, progress } = createIndexer({ ada: 24_000, bob: 7 });
    indexer.start();
    await clock.advance(10_000);
    expect(progress).toEqual([
      { indexed: 10_000, done: false },
      { indexed: 20_000, done: false },
      { indexed: 24_007, done: true },
    ]);
    await indexer.stop();
  });

  it("stops when what is under way has ended, and begins nothing after that", async () => {
    const { indexer, clock, calls, faults } = createIndexer({ ada: 1_000 });
    const held = faults.hold("indexSearch");
    indexer.wake("ada");
    await clock.advance(searchPace.settleMs);
    await held.reached;
    const stopped = indexer.stop().then(() => calls.push("stopped"));
    indexer.wake("bob");
    held.open();
    await stopped;
    await clock.advance(searchPace.sweepMs * 2);
    expect(calls).toEqual(["ada", "stopped"]);
    expect(clock.pending).toBe(0);
  });
});
