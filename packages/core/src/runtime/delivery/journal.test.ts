import { createManualClock, type Gate, gate, settle } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { ParleyError } from "../../errors.js";
import type { JournalBatch, JournalOutcome } from "../../ports/log-store.js";
import { EventTail } from "./event-tail.js";
import { Journal, type JournalPace } from "./journal.js";
import { decodeBatch } from "./journal-batch.js";
import { delta } from "./turn-event.test-support.js";

const pace: JournalPace = { intervalMs: 50, bytes: 200, retryMs: 250 };

/** Returns a store that keeps what is flushed, with results of the next flushes that the test sets. */
function journalFixture() {
  const clock = createManualClock();
  const flushes: JournalBatch[][] = [];
  const answers: (Gate | Error | JournalOutcome[])[] = [];
  const news: (readonly number[])[] = [];
  const journal = new Journal(
    {
      async flushJournal(batches) {
        flushes.push([...batches]);
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        if (Array.isArray(answer)) return answer;
        await answer?.wait();
        return batches.map(() => "ok");
      },
    },
    clock,
    pace,
    { notify: (ids) => news.push(ids) },
  );
  const open = (log: number) => {
    const tail = new EventTail();
    const writer = journal.open({ log, owner: "o", turnId: `t-${log}`, fence: 3 }, tail);
    const say = (text: string) => {
      const event = delta("text-delta", 0, text);
      tail.push(event);
      writer.appended(event);
    };
    return { tail, writer, say };
  };
  const texts = () =>
    flushes.map((batches) =>
      batches.map((batch) =>
        decodeBatch("c", batch)
          .map(({ event }) => ("delta" in event ? event.delta : event.type))
          .join(""),
      ),
    );
  return { clock, journal, flushes, answers, news, open, texts };
}

const unavailable = () => new ParleyError("store_unavailable");

describe("the journal", () => {
  it("fails the one turn whose events cannot be written down, and continues for the others", async () => {
    const { clock, open, texts } = journalFixture();
    const [broken, sound] = [open(1), open(2)];
    const failures: unknown[] = [];
    broken.writer.onFailed = (error) => failures.push(error);
    const event = { ...delta("text-delta", 0, "x"), providerMetadata: { test: { n: 10n as never } } };
    broken.tail.push(event);
    broken.writer.appended(event);
    sound.say("b1 ");
    await clock.advance(50);
    expect(texts()).toEqual([["b1 "]]);
    expect(failures).toMatchObject([{ code: "internal" }]);
    await expect(broken.writer.flush()).rejects.toMatchObject({ code: "internal" });
    sound.say("b2 ");
    await clock.advance(50);
    expect(texts()).toEqual([["b1 "], ["b2 "]]);
  });

  it("writes again what a part of the store did not answer for, and keeps nothing from the others", async () => {
    const { clock, open, texts, answers, news } = journalFixture();
    const [away, here] = [open(1), open(2)];
    const failures: unknown[] = [];
    away.writer.onFailed = (error) => failures.push(error);
    answers.push(["unavailable", "ok"]);
    away.say("a1 ");
    here.say("b1 ");
    const [landed, waiting] = [here.writer.flush(), away.writer.flush()];
    await landed;
    expect(news).toEqual([[2]]);
    here.say("b2 ");
    away.say("a2 ");
    await here.writer.flush();
    await clock.advance(249);
    expect(texts()).toEqual([["a1 ", "b1 "], ["b2 "]]);
    // The very same batch, and behind it what has come meanwhile.
    await clock.advance(1);
    await waiting;
    await clock.advance(50);
    expect(texts().slice(2)).toEqual([["a1 "], ["a2 "]]);
    expect(failures).toEqual([]);
  });

  it("gathers the events of all turns for an interval, in one flush ordered by conversation", async () => {
    const { clock, open, texts, flushes } = journalFixture();
    const [b, a] = [open(2), open(1)];
    b.say("b1 ");
    await clock.advance(20);
    a.say("a1 ");
    b.say("b2 ");
    await clock.advance(29);
    expect(flushes).toEqual([]);
    await clock.advance(1);
    expect(texts()).toEqual([["a1 ", "b1 b2 "]]);
    expect(flushes[0]?.[1]).toMatchObject({
      log: 2,
      turnId: "t-2",
      fence: 3,
      firstN: 0,
      count: 2,
    });
    b.say("b3 ");
    await clock.advance(50);
    expect(flushes[1]).toMatchObject([{ firstN: 2, count: 1 }]);
    expect(clock.pending).toBe(0);
  });

  it("flushes with the last event that comes within the interval, by the pauses between them", async () => {
    const { clock, open, texts } = journalFixture();
    const { say } = open(1);
    await clock.advance(1_000);
    for (const text of ["0 ", "20 ", "40 ", "60 ", "80 "]) {
      say(text);
      await clock.advance(20);
    }
    // 40 ms after the first, with the next one expected 10 ms after the interval: no timer was needed.
    expect(texts()).toEqual([["0 20 40 "]]);
    expect(clock.pending).toBe(1);
    say("100 ");
    await settle();
    expect(texts()).toEqual([["0 20 40 "], ["60 80 100 "]]);
    expect(clock.pending).toBe(0);
  });

  it("flushes when the interval ends where the expected event does not come", async () => {
    const { clock, open, texts } = journalFixture();
    const { say } = open(1);
    await clock.advance(1_000);
    say("0 ");
    await clock.advance(20);
    say("20 ");
    await clock.advance(29);
    expect(texts()).toEqual([]);
    await clock.advance(1);
    expect(texts()).toEqual([["0 20 "]]);
  });

  it("takes all along that comes with the event that sets off the flush, and writes no sooner than half an interval", async () => {
    const { clock, open, texts } = journalFixture();
    const [a, b] = [open(1), open(2)];
    await clock.advance(1_000);
    a.say("a1 ");
    await clock.advance(24);
    b.say("b1 ");
    await clock.advance(25);
    expect(texts()).toEqual([]);
    await clock.advance(1);
    expect(texts()).toEqual([["a1 ", "b1 "]]);
    a.say("a2 ");
    await clock.advance(30);
    for (const text of ["a3 ", "a4 "]) a.say(text);
    b.say("b2 ");
    await settle();
    expect(texts()[1]).toEqual(["a2 a3 a4 ", "b2 "]);
  });

  it("waits out its pause after a failed flush, whatever comes meanwhile", async () => {
    const { clock, open, texts, answers } = journalFixture();
    const { say } = open(1);
    answers.push(unavailable());
    say("0 ");
    await clock.advance(50);
    for (const text of ["50 ", "130 ", "210 "]) {
      say(text);
      await clock.advance(80);
    }
    expect(texts()).toEqual([["0 "]]);
    await clock.advance(10);
    // The same batch first, and what came since with the flush after it.
    expect(texts().slice(0, 2)).toEqual([["0 "], ["0 "]]);
    await clock.advance(50);
    expect(texts().at(-1)).toEqual(["50 130 210 "]);
  });

  it("flushes at once when a share grows large, or when someone waits", async () => {
    const { open, texts } = journalFixture();
    const { say, writer } = open(1);
    say("x".repeat(250));
    await settle();
    expect(texts()).toEqual([["x".repeat(250)]]);
    say("y");
    await writer.flush();
    expect(texts()[1]).toEqual(["y"]);
    await writer.flush();
    expect(texts()).toHaveLength(2);
  });

  it("has one flush under way; what comes meanwhile goes with the next", async () => {
    const { clock, open, answers, texts } = journalFixture();
    const { say, writer } = open(1);
    const first = gate();
    answers.push(first);
    say("one ");
    const one = writer.flush();
    await first.reached;
    say("two ");
    let isTwoDurable = false;
    const two = writer.flush().then(() => {
      isTwoDurable = true;
    });
    await clock.advance(500);
    expect(texts()).toEqual([["one "]]);
    first.open();
    await one;
    expect(isTwoDurable).toBe(false);
    await two;
    expect(texts()).toEqual([["one "], ["two "]]);
  });

  it("repeats a flush whose outcome is unknown with the very same batches", async () => {
    const { clock, open, answers, flushes } = journalFixture();
    const { say, writer } = open(1);
    answers.push(unavailable(), unavailable());
    say("one ");
    const durable = writer.flush();
    await clock.advance(0);
    say("two ");
    say("z".repeat(300));
    await clock.advance(0);
    expect(flushes).toHaveLength(1);
    await clock.advance(250);
    await clock.advance(250);
    await durable;
    expect(flushes).toHaveLength(4);
    expect(flushes[1]).toEqual(flushes[0]);
    expect(flushes[2]).toEqual(flushes[0]);
    expect(flushes[3]).toMatchObject([{ firstN: 1, count: 2 }]);
  });

  it("reports to a turn that it belongs to another node, and continues with the others", async () => {
    const { clock, open, answers, texts } = journalFixture();
    const [a, b] = [open(1), open(2)];
    const failures: unknown[] = [];
    a.writer.onFailed = (error) => failures.push(error);
    answers.push(["stale_fence", "ok"]);
    a.say("a");
    b.say("b");
    const lost = a.writer.flush();
    await expect(lost).rejects.toMatchObject({ code: "stale_fence" });
    expect(failures).toMatchObject([{ code: "stale_fence" }]);
    a.say("more");
    b.say("more");
    await clock.advance(50);
    expect(texts().at(-1)).toEqual(["more"]);
    await expect(a.writer.flush()).rejects.toMatchObject({ code: "stale_fence" });
    await expect(a.writer.discard()).rejects.toMatchObject({ code: "stale_fence" });
  });

  it("fails the turns of a flush that cannot be repeated, but keeps their commits possible", async () => {
    const { open, answers } = journalFixture();
    const { say, writer } = open(1);
    const failures: unknown[] = [];
    writer.onFailed = (error) => failures.push(error);
    answers.push(new ParleyError("internal"));
    say("one");
    await expect(writer.flush()).rejects.toMatchObject({ code: "internal" });
    expect(failures).toHaveLength(1);
    await expect(writer.discard()).resolves.toBeUndefined();
  });

  it("lets nothing reach the store behind a commit: a flush under way is awaited, what waits is dropped", async () => {
    const { clock, open, answers, texts } = journalFixture();
    const { say, writer, tail } = open(1);
    const under = gate();
    answers.push(under);
    say("one ");
    const flushed = writer.flush();
    await under.reached;
    say("two ");
    let isDiscarded = false;
    const discarded = writer.discard().then(() => {
      isDiscarded = true;
    });
    await clock.advance(200);
    expect(isDiscarded).toBe(false);
    under.open();
    await Promise.all([flushed, discarded]);
    tail.clear();
    await clock.advance(200);
    expect(texts()).toEqual([["one "]]);
    say("three");
    await clock.advance(50);
    expect(texts()).toEqual([["one "], ["three"]]);
  });

  it("waits with a commit until the outcome of a flush is known", async () => {
    const { clock, open, answers, flushes } = journalFixture();
    const { say, writer } = open(1);
    answers.push(unavailable());
    say("one ");
    await clock.advance(50);
    let isDiscarded = false;
    void writer.discard().then(() => {
      isDiscarded = true;
    });
    await clock.advance(0);
    expect(isDiscarded).toBe(false);
    await clock.advance(250);
    expect([isDiscarded, flushes.length]).toEqual([true, 2]);
  });

  it("wakes other nodes for the conversations that have news, once per flush", async () => {
    const { clock, news, open, answers } = journalFixture();
    const [a, b] = [open(1), open(2)];
    a.say("1");
    a.say("2");
    b.say("3");
    answers.push(["ok", "stale_fence"]);
    await clock.advance(50);
    expect(news).toEqual([[1]]);
  });

  it("writes nothing more once it is closed", async () => {
    const { clock, journal, open, flushes } = journalFixture();
    const { say } = open(1);
    say("one");
    journal.close();
    say("x".repeat(500));
    await clock.advance(1_000);
    expect([flushes, clock.pending]).toEqual([[], 0]);
  });

  it("counts on behind what an earlier holder has written", async () => {
    const { clock, journal, flushes } = journalFixture();
    const tail = new EventTail(6);
    tail.append(7, delta("text-delta", 0, "kept"));
    const writer = journal.open({ log: 1, owner: "o", turnId: "t", fence: 4 }, tail);
    await writer.flush();
    expect(flushes).toEqual([]);
    const event = delta("text-delta", 0, "new");
    tail.push(event);
    writer.appended(event);
    await clock.advance(50);
    expect(flushes).toMatchObject([[{ firstN: 8, count: 1, fence: 4 }]]);
  });
});
