import type { TurnEvent } from "@parley/fold";
import type { StepId } from "@parley/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventDeduplicator } from "./event-deduplicator.js";
import { delta, folded, ids } from "./turn-event.test-support.js";

/** A turn of some steps as events from its rows: one event per part. */
const wholeTurn: fc.Arbitrary<TurnEvent[]> = fc
  .array(
    fc.record({
      texts: fc.array(fc.string({ minLength: 1, maxLength: 8 }), { maxLength: 3 }),
      tools: fc.nat({ max: 2 }),
      isSteered: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((steps) => [
    { type: "user-message", ...ids, text: "Hi", messageId: "m1" },
    { type: "turn-start", ...ids },
    ...steps.flatMap(({ texts, tools, isSteered }, step): TurnEvent[] => {
      const stepId = `t.${step}` as StepId;
      const calls = Array.from({ length: tools }, (_, index) => `k${index}`);
      const place = { ...ids, stepId, toolName: "add" };
      return [
        ...texts.map((text, part) =>
          delta(part % 2 === 0 ? "text-delta" : "reasoning-delta", part, text, step),
        ),
        ...calls.map((toolCallId): TurnEvent => ({ type: "tool-call", ...place, toolCallId, input: {} })),
        { type: "usage", ...ids, stepId, usage: { inputTokens: 1, outputTokens: 1 } },
        { type: "step-complete", ...ids, stepId },
        ...calls.map(
          (toolCallId): TurnEvent => ({
            type: "tool-result",
            ...place,
            toolCallId,
            content: "3",
            isError: false,
          }),
        ),
        ...(isSteered ? [{ type: "steering" as const, ...ids, text: "x", messageIds: [`s${step}`] }] : []),
      ];
    }),
    { type: "done", ...ids, reason: "stop" },
  ]);

/** Returns the same turn as live events: every text in pieces. */
function inPieces(events: readonly TurnEvent[], size: number): TurnEvent[] {
  return events.flatMap((event): TurnEvent[] => {
    if (event.type !== "text-delta" && event.type !== "reasoning-delta") return [event];
    const pieces: TurnEvent[] = [];
    for (let start = 0; start < event.delta.length; start += size) {
      pieces.push({ ...event, delta: event.delta.slice(start, start + size) });
    }
    return pieces;
  });
}

describe("the delivered events of a turn", () => {
  it("and the rest make the whole turn, in its order, wherever the delivery broke off", () => {
    fc.assert(
      fc.property(wholeTurn, fc.integer({ min: 1, max: 3 }), fc.nat({ max: 60 }), (turn, size, count) => {
        const live = inPieces(turn, size);
        const deduplicator = new EventDeduplicator();
        const delivered = live.slice(0, count);
        for (const event of delivered) expect(deduplicator.take(event)).toBe(true);
        const rest = deduplicator.rest(turn);
        const all = [...delivered, ...rest].map((event) => ({ event }));
        expect(folded(all)).toEqual(folded(turn.map((event) => ({ event }))));
        // In order: without its texts, the turn as it is.
        const others = (events: readonly TurnEvent[]) =>
          events.filter(({ type }) => type !== "text-delta" && type !== "reasoning-delta");
        expect([...others(delivered), ...others(rest)]).toEqual(others(turn));
        expect(deduplicator.rest(turn)).toEqual([]);
      }),
    );
  });

  it("is nothing new when the journal brings it after the rows", () => {
    fc.assert(
      fc.property(wholeTurn, (turn) => {
        const deduplicator = new EventDeduplicator();
        deduplicator.rest(turn);
        deduplicator.complete(["a0", "a1", "a2", "a3"]);
        for (const event of inPieces(turn, 2)) expect(deduplicator.take(event)).toBe(false);
      }),
    );
  });

  it("is not added to where the rows say something else", () => {
    const deduplicator = new EventDeduplicator();
    deduplicator.take(delta("text-delta", 0, "The answer is 41"));
    expect(deduplicator.rest([delta("text-delta", 0, "The answer is 42")])).toEqual([]);
  });
});
