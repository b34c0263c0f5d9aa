import type { AgentEvent, StepId } from "@parley/wire";
import fc from "fast-check";
import { expect, it } from "vitest";
import { EventStream } from "./event-stream.js";

const ids = { conversationId: "c", turnId: "t" };
const text = (delta: string): AgentEvent => ({
  type: "text-delta",
  ...ids,
  delta,
  stepId: "t.0" as StepId,
  messageId: "a",
  partIndex: 0,
});
const start: AgentEvent = { type: "turn-start", ...ids };
const cut = (whole: string, at: readonly number[]) => {
  const places = [
    0,
    ...at.map((each) => each % (whole.length + 1)).sort((left, right) => left - right),
    whole.length,
  ];
  return places.slice(1).map((end, index) => whole.slice(places[index], end));
};

it("gives each event once and every text in full, however what is durable repeats", () => {
  const cuts = fc.array(fc.nat(), { maxLength: 5 });
  fc.assert(
    fc.property(fc.string(), fc.nat(), cuts, cuts, (whole, seen, first, second) => {
      const stream = new EventStream();
      const before = whole.slice(0, seen % (whole.length + 1));
      const events = [start, ...cut(before, first).map(text)].map((event) => stream.next(event));
      stream.reset();
      events.push(...[start, ...cut(whole, second).map(text)].map((event) => stream.next(event)));
      const given = events.flatMap((event) => (event === undefined ? [] : [event]));
      expect(given.filter(({ type }) => type === "turn-start")).toHaveLength(1);
      expect(given.flatMap((event) => (event.type === "text-delta" ? [event.delta] : [])).join("")).toBe(
        whole,
      );
    }),
  );
});
