import type { TurnEvent } from "@parley/fold";
import type { StepId } from "@parley/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventTail } from "./event-tail.js";
import { decodeBatch, encodeBatch } from "./journal-batch.js";

const ids = { conversationId: "c1", turnId: "t1" };
const delta = (type: "text-delta" | "reasoning-delta", partIndex: number, text: string): TurnEvent => ({
  type,
  ...ids,
  stepId: "t1.0" as StepId,
  messageId: "m1",
  partIndex,
  delta: text,
});
const event = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(fc.constantFrom(0, 1), fc.string({ maxLength: 4 }))
      .map(([part, text]) => delta("text-delta", part, text)),
  },
  fc.string({ maxLength: 4 }).map((text) => delta("reasoning-delta", 2, text)),
  fc.constant<TurnEvent>({ type: "tool-output", ...ids, toolCallId: "a", data: "x", stream: "stdout" }),
);

/** Folds events as a reader does: the text of each part, and everything else in order. */
function fold(events: readonly TurnEvent[]): unknown {
  const parts: Record<string, string> = {};
  const others: TurnEvent[] = [];
  for (const each of events) {
    if (each.type === "text-delta" || each.type === "reasoning-delta") {
      const key = `${each.type} ${each.partIndex}`;
      parts[key] = (parts[key] ?? "") + each.delta;
    } else others.push(each);
  }
  return { parts, others };
}

describe("the tail of an open turn", () => {
  it("keeps an answer as one run, however often the journal takes its share, which is what came since", () => {
    const tail = new EventTail();
    let n = -1;
    for (const text of ["a", "b", "c", "d", "e"]) {
      tail.push(delta("text-delta", 0, text));
      tail.push(delta("text-delta", 0, text.toUpperCase()));
      const taken = tail.takeSince(n);
      expect(taken.map((run) => [run.firstN, run.text, run.lengths])).toEqual([
        [n + 1, `${text}${text.toUpperCase()}`, [1, 1]],
      ]);
      n = tail.lastN;
    }
    expect(tail.takeSince(-1).map(({ firstN, text }) => [firstN, text])).toEqual([[0, "aAbBcCdDeE"]]);
    expect(tail.since(2, 6)).toMatchObject([{ n: 6, event: { delta: "BcCd" } }]);
  });

  it("gives a late reader the same content as all events, from any position, whatever was read or taken before", () => {
    const before = fc.constantFrom("none", "reader", "journal");
    fc.assert(
      fc.property(fc.array(fc.tuple(event, before), { maxLength: 40 }), fc.nat(45), (steps, place) => {
        const tail = new EventTail();
        for (const [each, who] of steps) {
          tail.push(each);
          if (who === "journal") tail.takeSince(tail.lastN - 1);
          if (who === "reader") tail.since(-1);
        }
        const all = steps.map(([each]) => each);
        const after = place - 1;
        const events = tail.since(after);
        expect(fold(events.map((one) => one.event))).toEqual(fold(all.slice(place)));
        if (place < all.length) expect(events.at(-1)?.n).toBe(all.length - 1);
        for (let index = 1; index < events.length; index += 1) {
          const [one, other] = [events[index - 1]?.event, events[index]?.event];
          const sameText = one?.type === "text-delta" && other?.type === "text-delta";
          // Neighbors of the same part would be one event too many.
          if (sameText) expect(one.partIndex).not.toBe(other.partIndex);
        }
      }),
    );
  });

  it("gives the journal every event once, in batches that read back as they were", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(event, fc.boolean()), { maxLength: 40 }), (steps) => {
        const tail = new EventTail();
        const written: TurnEvent[] = [];
        let takenN = -1;
        const take = () => {
          const runs = tail.takeSince(takenN);
          const firstN = runs[0]?.firstN ?? 0;
          const batch = { ...ids, firstN, data: encodeBatch(runs) };
          written.push(...decodeBatch(ids.conversationId, batch).map((one) => one.event));
          takenN = tail.lastN;
        };
        for (const [each, taken] of steps) {
          tail.push(each);
          if (taken) take();
        }
        take();
        expect(written).toEqual(steps.map(([each]) => each));
      }),
    );
  });

  it("is empty after a commit, and keeps counting", () => {
    const tail = new EventTail();
    tail.push(delta("text-delta", 0, "a"));
    tail.clear();
    expect(tail.since(-1)).toEqual([]);
    expect(tail.push(delta("text-delta", 0, "b"))).toBe(1);
    expect(tail.since(-1)).toMatchObject([{ n: 1, event: { delta: "b" } }]);
  });
});
