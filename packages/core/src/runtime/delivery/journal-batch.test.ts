import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventTail } from "./event-tail.js";
import { coalesce, cutRun, decodeBatch, encodeBatch, joinRun, lastNOf } from "./journal-batch.js";
import { delta, folded, ids, numbered, turnEvent } from "./turn-event.test-support.js";

const events = fc.array(turnEvent, { maxLength: 30 });
const firstN = fc.nat({ max: 100 });

function batchOf(list: readonly Parameters<EventTail["push"]>[0][], from: number) {
  const tail = new EventTail(from - 1);
  for (const event of list) tail.push(event);
  return { ...ids, firstN: from, data: encodeBatch(tail.takeSince(from - 1)) };
}

describe("a batch of the journal", () => {
  it("reads back as the very events that were written", () => {
    fc.assert(
      fc.property(events, firstN, (list, from) => {
        expect(decodeBatch(ids.conversationId, batchOf(list, from))).toEqual(numbered(list, from));
      }),
    );
  });

  it("can be cut at any event", () => {
    fc.assert(
      fc.property(events, firstN, fc.integer({ min: -5, max: 140 }), (list, from, afterN) => {
        const all = numbered(list, from);
        const read = decodeBatch(ids.conversationId, batchOf(list, from), { afterN });
        expect(read).toEqual(all.filter(({ n }) => n > afterN));
      }),
    );
  });

  it("stores a token once, without an envelope of its own", () => {
    const words = Array.from({ length: 500 }, (_, index) => delta("text-delta", 0, `word${index} `));
    const text = words.map((word) => word.delta).join("");
    const { data } = batchOf(words, 0);
    expect(data.length).toBeLessThan(text.length + words.length * 2 + 100);
  });
});

describe("coalescing", () => {
  it("has the same content in fewer events, one for neighbours of the same part", () => {
    fc.assert(
      fc.property(events, (list) => {
        const all = numbered(list);
        const joined = coalesce(all);
        expect(folded(joined)).toEqual(folded(all));
        expect(joined.at(-1)?.n).toBe(all.at(-1)?.n);
        expect(coalesce(joined)).toEqual(joined);
        expect(joined.map(({ n }) => n)).toEqual(joined.map(({ n }) => n).toSorted((a, b) => a - b));
      }),
    );
  });
});

describe("a run", () => {
  it("is cut between any two of its events, and what is cut out is what was there", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 4 }), { minLength: 1, maxLength: 12 }),
        firstN,
        fc.integer({ min: -3, max: 120 }),
        fc.integer({ min: -3, max: 120 }),
        (texts, from, after, through) => {
          const tail = new EventTail(from - 1);
          for (const text of texts) tail.push(delta("text-delta", 0, text));
          const [run] = tail.takeSince(from - 1);
          if (run === undefined) throw new Error("a run");
          const kept = texts.filter((_, index) => from + index > after && from + index <= through);
          const cut = cutRun(run, after, through);
          expect(cut === undefined ? undefined : [cut.text, cut.lengths]).toEqual(
            kept.length === 0 ? undefined : [kept.join(""), kept.map(({ length }) => length)],
          );
          if (cut !== undefined) {
            expect(lastNOf(cut)).toBe(Math.min(through, from + texts.length - 1));
            expect(joinRun(cut)).toMatchObject({ n: lastNOf(cut), event: { delta: kept.join("") } });
          }
        },
      ),
    );
  });
});
