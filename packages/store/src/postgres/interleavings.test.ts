import type { LogStore, LogStoreRoot, OpenedTurn } from "@parley/core/ports";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import { changeNumber, takeChangeNumber } from "../operations/numbers.js";
import { type FlushForm, flushTexts } from "../operations/turns/flush-journal.js";
import { lockText } from "../operations/turns/head.js";
import { openPostgres } from "./open-postgres.js";
import {
  admission,
  batch,
  commit,
  type HeldTurn,
  held,
  message,
  node,
  sealing,
  start,
  textsOf,
} from "./turns.test-support.js";

const owner = "ada";

type Settled<T> = { value: T } | { code: unknown };

function settled<T>(promise: Promise<T>): Promise<Settled<T>> {
  return promise.then(
    (value) => ({ value }),
    (error: { code?: unknown }) => ({ code: error.code }),
  );
}

describeOnPostgres("statements of two connections that meet", (postgres) => {
  let database: TestDatabase;
  let first: LogStoreRoot;
  let second: LogStoreRoot;
  let store: LogStore;
  let other: LogStore;
  /** A third connection, which holds the locks that the two wait for. */
  let holder: pg.Client;
  let watcher: pg.Client;
  beforeAll(async () => {
    database = await postgres.createDatabase();
    first = openPostgres({ url: database.url, listenUrl: false }).store;
    second = openPostgres({ url: database.url, listenUrl: false }).store;
    await first.migrate();
    await first.heartbeat(node, 600_000);
    store = first.forOwner(owner);
    other = second.forOwner(owner);
    watcher = new pg.Client({ connectionString: database.url });
    await watcher.connect();
  });
  beforeEach(async () => {
    holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
  });
  afterEach(() => holder.end());
  afterAll(async () => {
    await watcher.end();
    await Promise.all([first.close(), second.close()]);
    await database.drop();
  });

  /** Resolves when `count` connections wait for a lock. */
  async function waiting(count: number): Promise<void> {
    for (;;) {
      const { rows } = await watcher.query<{ waiting: number }>(
        "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      if (rows[0]?.waiting === count) return;
    }
  }

  /** Lets two calls wait for the same conversation in this order, and continue in it. */
  async function inOrder<A, B>(
    conversationId: string,
    before: () => Promise<A>,
    after: () => Promise<B>,
  ): Promise<[Settled<A>, Settled<B>]> {
    await holder.query("BEGIN");
    await holder.query(lockText, [conversationId, owner]);
    const one = settled(before());
    await waiting(1);
    const two = settled(after());
    await waiting(2);
    await holder.query("COMMIT");
    return [await one, await two];
  }

  function flushing(turn: HeldTurn & { readonly log: number }, firstN: number, form: FlushForm = "many") {
    const values: unknown[] = [turn.log, owner, turn.turnId, turn.fence, firstN, 2, `events from ${firstN}`];
    const lists: unknown[] = values.map((value) => [value]);
    return holder.query(flushTexts[form], form === "one" ? values : lists);
  }

  async function journal(turn: Pick<OpenedTurn, "log">) {
    const { rows } = await watcher.query("SELECT first_n FROM parley.turn_journal WHERE log = $1", [
      turn.log,
    ]);
    return rows.map((row: { first_n: number }) => row.first_n);
  }

  for (const form of ["one", "many"] as const) {
    for (const end of ["COMMIT", "ROLLBACK"] as const) {
      it(`a take-over waits for an open flush (${form}) that ends with ${end}, and reads exactly what it left`, async () => {
        const turn = await start(store);
        const alive = await start(store);
        await holder.query("BEGIN");
        await flushing(turn, 0, form);
        const taking = other.takeOver({ ...held(turn), node: "node-2" });
        await waiting(1);
        await holder.query(end);
        const lease = await taking;
        expect(lease?.fence).toBe(turn.fence + 1);
        const state = await other.readOpenTurn({ conversationId: turn.conversationId });
        expect(state?.journal.map(({ firstN }) => firstN)).toEqual(end === "COMMIT" ? [0] : []);
        expect(await first.flushJournal([batch(turn, 2, owner)])).toEqual(["stale_fence"]);
        expect(await first.flushJournal([batch(turn, 2, owner), batch(alive, 0, owner)])).toEqual([
          "stale_fence",
          "ok",
        ]);
      });
    }
  }

  it("a claim passes by a conversation with an open flush, and later finds what it left", async () => {
    const turn = await start(store);
    await store.takeOver({ ...held(turn), node: "never" });
    const dead = { ...held(turn), log: turn.log, fence: turn.fence + 1 };
    await holder.query("BEGIN");
    await flushing(dead, 0);
    const claim = async () =>
      (await second.claimExpired("node-2", 100)).filter((lease) => lease.turnId === turn.turnId);
    expect(await claim()).toEqual([]);
    await holder.query("COMMIT");
    const [lease] = await claim();
    expect(lease).toMatchObject({ turnId: turn.turnId, fence: dead.fence + 1 });
    const state = await other.readOpenTurn({ conversationId: turn.conversationId });
    expect(state?.journal.length).toBe(1);
    await other.seal(sealing({ ...held(turn), fence: dead.fence + 1 }));
    expect(await journal(turn)).toEqual([]);
  });

  it("a flush waits for an open take-over, and is refused", async () => {
    const turn = await start(store);
    const alive = await start(store);
    await holder.query("BEGIN");
    await holder.query("UPDATE parley.conversation_head SET fence = fence + 1 WHERE log = $1", [turn.log]);
    const flushed = first.flushJournal([batch(turn, 0, owner)]);
    await waiting(1);
    const beside = second.flushJournal([batch(turn, 0, owner), batch(alive, 0, owner)]);
    await waiting(2);
    await holder.query("COMMIT");
    expect(await flushed).toEqual(["stale_fence"]);
    expect(await beside).toEqual(["stale_fence", "ok"]);
    expect(await journal(turn)).toEqual([]);
  });

  it("a commit and a seal wait for an open flush, and leave nothing of it", async () => {
    const turn = await start(store);
    const id = turn.conversationId;
    await holder.query("BEGIN");
    await flushing(turn, 0);
    const committed = other.commitStep(commit(turn, [message(id, "Answer", "assistant")]));
    await waiting(1);
    await holder.query("COMMIT");
    await committed;
    expect(await journal(turn)).toEqual([]);
    await holder.query("BEGIN");
    await flushing(turn, 2);
    const sealed = other.seal(sealing(turn, [message(id, "The end", "assistant")]));
    await waiting(1);
    await holder.query("COMMIT");
    expect((await sealed).lastSeq).toBe(3);
    expect(await journal(turn)).toEqual([]);
  });

  it("two groups of turns are flushed at once without a deadlock, whatever order they are named in", async () => {
    const turns = await Promise.all(Array.from({ length: 20 }, () => start(store)));
    for (let round = 0; round < 10; round++) {
      const batches = turns.map((turn) => batch(turn, round * 2, owner));
      const outcomes = await Promise.all([
        first.flushJournal(batches),
        second.flushJournal(batches.toReversed()),
      ]);
      expect(new Set(outcomes.flat())).toEqual(new Set(["ok"]));
    }
    for (const turn of turns) expect((await journal(turn)).length).toBe(10);
  });

  it("of one message admitted twice the second is known", async () => {
    const id = crypto.randomUUID();
    await store.create({ id, settings: {} });
    const input = admission(id, "Twice");
    const again = { ...input, turnId: crypto.randomUUID() };
    const outcomes = await inOrder(
      id,
      () => store.admit(input),
      () => other.admit(again),
    );
    expect(outcomes).toMatchObject([
      { value: { kind: "started" } },
      { value: { kind: "known", outcome: "started", turnId: input.turnId } },
    ]);
    expect((await store.get(id))?.lastSeq).toBe(1);
  });

  it("of two messages to an idle conversation the second waits its turn", async () => {
    const id = crypto.randomUUID();
    await store.create({ id, settings: {} });
    const outcomes = await inOrder(
      id,
      () => store.admit(admission(id, "One")),
      () => other.admit(admission(id, "Two")),
    );
    expect(outcomes).toMatchObject([{ value: { kind: "started" } }, { value: { kind: "queued" } }]);
    expect(textsOf((await store.queue(id, { op: "list" })).entries)).toEqual(["Two"]);
  });

  it("a message that meets the making of its conversation goes into it", async () => {
    const id = crypto.randomUUID();
    await holder.query("BEGIN");
    await holder.query(
      `INSERT INTO parley.conversation
         (log, id, owner, title, status, created_at, last_activity_at, updated_at, changed_at)
       VALUES (nextval('parley.log_number'), $1, $2, 'Made', 'open', now(), now(), now(),
         nextval('parley.conversation_change'))`,
      [id, owner],
    );
    await holder.query(
      `INSERT INTO parley.conversation_head (log, owner, next_seq, sealed_seq, active_at)
       SELECT log, owner, 1, 0, now() FROM parley.conversation WHERE id = $1 AND owner = $2`,
      [id, owner],
    );
    const admitted = store.admit(admission(id, "Hello"));
    await waiting(1);
    await holder.query("COMMIT");
    expect(await admitted).toMatchObject({ kind: "started", created: false });
    expect((await store.get(id))?.title).toBe("Made");
  });

  it("an edit that comes before a promotion is delivered, one that comes after it is refused", async () => {
    for (const editFirst of [true, false]) {
      const turn = await start(store);
      const id = turn.conversationId;
      const steer = admission(id, "Old");
      await store.admit(steer);
      const edit = () => other.queue(id, { op: "edit", id: steer.message.id, text: "New" });
      const promote = () => store.commitStep(commit(turn, [message(id, "Answer", "assistant")], true));
      const outcomes = editFirst ? await inOrder(id, edit, promote) : await inOrder(id, promote, edit);
      // A commit that has to promote reads twice, so an edit behind it may still come in between.
      const edited = outcomes[editFirst ? 0 : 1];
      const inTime = edited !== undefined && "value" in edited;
      if (!inTime) expect(edited).toEqual({ code: "message_conflict" });
      if (editFirst) expect(inTime).toBe(true);
      const log = (await store.readNewest({ conversationId: id, limit: 9 })).entries.reverse();
      expect(textsOf(log)).toEqual(["Hello", "Answer", inTime ? "New" : "Old"]);
    }
  });

  it("a stop that comes before a seal keeps what waits, one that comes after it stops the next turn", async () => {
    for (const stopFirst of [true, false]) {
      const turn = await start(store);
      const id = turn.conversationId;
      await store.admit(admission(id, "Waiting"));
      const stop = () => other.requestStop(id);
      const seal = () => store.seal(sealing(turn));
      const outcomes = stopFirst ? await inOrder(id, stop, seal) : await inOrder(id, seal, stop);
      const record = await store.get(id);
      const stopped = outcomes[stopFirst ? 0 : 1] as { value?: { turnId?: string } } | undefined;
      // A seal with something waiting reads twice, so a stop behind it may still come in between.
      if (stopped?.value?.turnId === turn.turnId) {
        expect(record).toMatchObject({ status: "idle", queuePaused: true });
      } else {
        expect(stopFirst).toBe(false);
        expect(stopped?.value?.turnId).toBe(record?.active?.turnId);
        expect(record).toMatchObject({ status: "active", active: { stopRequested: true } });
      }
    }
  });

  it("a fork before a removal keeps what it shares, one after it finds nothing", async () => {
    for (const forkFirst of [true, false]) {
      const turn = await start(store);
      const id = turn.conversationId;
      await store.seal(sealing(turn));
      const newId = crypto.randomUUID();
      const fork = () => store.fork({ conversationId: id, atSeq: 1, newId });
      const remove = () => other.remove(id, { cascade: false });
      const outcomes = forkFirst ? await inOrder(id, fork, remove) : await inOrder(id, remove, fork);
      expect(outcomes[forkFirst ? 1 : 0]).toEqual({ value: [{ id, log: turn.log }] });
      expect(await store.get(id)).toBeNull();
      if (!forkFirst) expect(outcomes[1]).toEqual({ code: "conversation_not_found" });
      const { entries } = await store.readNewest({ conversationId: newId, limit: 9 });
      expect(textsOf(entries)).toEqual(forkFirst ? ["Hello"] : []);
    }
  });

  it("of a take-over and a commit the one that came first counts", async () => {
    for (const commitFirst of [true, false]) {
      const turn = await start(store);
      const id = turn.conversationId;
      await first.flushJournal([batch(turn, 0, owner)]);
      const write = () => store.commitStep(commit(turn, [message(id, "Answer", "assistant")]));
      const take = () => other.takeOver({ ...held(turn), node: "node-2" });
      const outcomes = commitFirst ? await inOrder(id, write, take) : await inOrder(id, take, write);
      if (!commitFirst) expect(outcomes[1]).toEqual({ code: "stale_fence" });
      const state = await other.readOpenTurn({ conversationId: id });
      expect(state?.fence).toBe(turn.fence + 1);
      expect([textsOf(state?.entries ?? []), state?.journal.length]).toEqual(
        commitFirst ? [["Hello", "Answer"], 0] : [["Hello"], 1],
      );
    }
  });

  it("forks that are removed at once leave nothing of the log they shared", async () => {
    const turn = await start(store);
    const id = turn.conversationId;
    await store.seal(sealing(turn));
    const forks = [crypto.randomUUID(), crypto.randomUUID()];
    for (const newId of forks) await store.fork({ conversationId: id, atSeq: 1, newId });
    await store.remove(id, { cascade: false });
    await Promise.all(
      forks.map((each, index) => (index === 0 ? store : other).remove(each, { cascade: false })),
    );
    const { rows } = await watcher.query(
      `SELECT (SELECT count(*)::int FROM parley.conversation WHERE id = ANY($1)) AS logs,
         (SELECT count(*)::int FROM parley.conversation_message WHERE log = $3) AS messages,
         (SELECT count(*)::int FROM parley.conversation_turn WHERE id = $2) AS turns`,
      [[id, ...forks], turn.turnId, turn.log],
    );
    expect(rows).toEqual([{ logs: 0, messages: 0, turns: 0 }]);
  });

  it("an id is free again while forks keep the removed log, and each reads its own", async () => {
    const turn = await start(store, undefined, "Before");
    const id = turn.conversationId;
    await store.seal(sealing(turn));
    const newId = crypto.randomUUID();
    await store.fork({ conversationId: id, atSeq: 1, newId });
    await store.remove(id, { cascade: false });
    await start(store, id, "After");
    const texts = async (conversationId: string) =>
      textsOf((await store.readNewest({ conversationId, limit: 9 })).entries);
    expect([await texts(id), await texts(newId)]).toEqual([["After"], ["Before"]]);
    expect(await store.get(newId)).toMatchObject({ parentId: id, parentSeq: 1 });
    expect((await store.remove(newId, { cascade: true })).length).toBe(1);
    const { rows } = await watcher.query(
      "SELECT count(*)::int AS left FROM parley.conversation WHERE id = $1",
      [id],
    );
    expect(rows).toEqual([{ left: 1 }]);
  });

  it("a change that commits late is not missed by a follower that has seen a later one", async () => {
    const ids = [crypto.randomUUID(), crypto.randomUUID()];
    for (const id of ids) await store.create({ id, settings: {} });
    const { last } = await store.changed({ limit: 1 });
    await holder.query("BEGIN");
    const { text, values = [] } = takeChangeNumber(owner);
    await holder.query(text, [...values]);
    await holder.query(
      `UPDATE parley.conversation SET title = 'Late', changed_at = ${changeNumber} WHERE id = $1`,
      [ids[0]],
    );
    await other.set(ids[1] ?? "", { title: "Early" });
    const meanwhile = await store.changed({ since: last, limit: 9 });
    expect(meanwhile).toEqual({ conversations: [], notices: [], last });
    await holder.query("COMMIT");
    const { conversations } = await store.changed({ since: meanwhile.last, limit: 9 });
    expect(conversations.map(({ title }) => title)).toEqual(["Late", "Early"]);
  });
});
