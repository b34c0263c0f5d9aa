import type { NumberedEvent, TurnEvent } from "@parley/fold";
import type { StepId } from "@parley/wire";
import fc from "fast-check";

export const ids = { conversationId: "c", turnId: "t" };

export function delta(
  type: "text-delta" | "reasoning-delta",
  partIndex: number,
  text: string,
  step = 0,
): TurnEvent & { type: "text-delta" | "reasoning-delta" } {
  return { type, ...ids, stepId: `t.${step}` as StepId, messageId: `a${step}`, partIndex, delta: text };
}

/** Any text that a model may stream: also halves of pairs, quotes and control characters. */
const piece = fc.oneof(
  fc.string({ maxLength: 5 }),
  fc.string({ maxLength: 3, unit: "binary" }),
  fc.constantFrom("\ud83d", "\ude00", '"', "\\", "\u0000", "\u2028"),
);

/** Events of a turn, in no special order. */
export const turnEvent: fc.Arbitrary<TurnEvent> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.constantFrom("text-delta" as const, "reasoning-delta" as const),
        fc.nat({ max: 2 }),
        piece,
        fc.nat({ max: 1 }),
      )
      .map(([type, partIndex, text, step]) => delta(type, partIndex, text, step)),
  },
  piece.map((text): TurnEvent => ({ ...delta("text-delta", 0, text), providerMetadata: { test: { a: 1 } } })),
  // As another server sends it: without a place.
  piece.map((text): TurnEvent => ({ type: "text-delta", ...ids, delta: text })),
  piece.map((data): TurnEvent => ({ type: "tool-output", ...ids, toolCallId: "k", data, stream: "stderr" })),
  piece.map(
    (content): TurnEvent => ({
      type: "tool-result",
      ...ids,
      stepId: "t.0" as StepId,
      toolCallId: "k",
      toolName: "add",
      content,
      isError: false,
      durationMs: 1.5,
    }),
  ),
  fc.constant<TurnEvent>({ type: "user-message", ...ids, text: "Hi", messageId: "m1" }),
  fc.constant<TurnEvent>({ type: "done", ...ids, reason: "stop" }),
);

/** Returns the events with consecutive numbers. */
export function numbered(events: readonly TurnEvent[], firstN = 0): NumberedEvent[] {
  return events.map((event, index) => ({ n: firstN + index, event }));
}

/** Folds events as a reader does: the text of each part, and everything else in order. */
export function folded(events: readonly { readonly event: TurnEvent }[]): unknown {
  const parts: Record<string, string> = {};
  const others: TurnEvent[] = [];
  for (const { event } of events) {
    if (event.type !== "text-delta" && event.type !== "reasoning-delta") {
      others.push(event);
      continue;
    }
    const key = `${event.messageId} ${event.partIndex} ${event.type}`;
    parts[key] = (parts[key] ?? "") + event.delta;
  }
  // A part whose deltas were all empty is no part.
  for (const [key, text] of Object.entries(parts)) if (text === "") delete parts[key];
  return { parts, others };
}
