import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StreamPlace } from "../../packages/client/src/ai-sdk/stream-place.js";
import { afterPosition, parsePosition } from "../../packages/server/src/faces/ai-sdk-ui/stream-position.js";
import type { UiChunk } from "../../packages/server/src/faces/ai-sdk-ui/ui-chunk.js";

type Step = readonly string[];

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.array(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 }),
  { minLength: 1, maxLength: 3 },
);

/** Returns a turn's chunks; the texts of a step in pieces of a size, one after the other or interleaved. */
function chunksOf(texts: readonly Step[], size: number, isInterleaved: boolean): UiChunk[] {
  const chunks: UiChunk[] = [{ type: "start", messageId: "t", messageMetadata: {} }];
  let part = 0;
  for (const step of texts) {
    chunks.push({ type: "start-step" });
    const ids = step.map(() => `t.${part++}`);
    const pieces = step.map((text) => text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []);
    const starts = ids.map((id): UiChunk => ({ type: "text-start", id }));
    const deltas = pieces.map((each, at) =>
      each.map((delta): UiChunk => ({ type: "text-delta", id: ids[at] ?? "", delta })),
    );
    if (!isInterleaved) chunks.push(...starts.flatMap((start, at) => [start, ...(deltas[at] ?? [])]));
    else {
      // A part starts with its first piece.
      chunks.push(...starts.flatMap((start, at) => [start, ...(deltas[at]?.slice(0, 1) ?? [])]));
      chunks.push(...deltas.flatMap((each) => each.slice(1)));
    }
    chunks.push(...ids.map((id): UiChunk => ({ type: "text-end", id })), { type: "finish-step" });
  }
  return [...chunks, { type: "finish", finishReason: "stop" }];
}

/** Returns the text by part, and all other chunks in order. */
function folded(chunks: readonly UiChunk[]): unknown {
  const texts = new Map<string, string>();
  const others: unknown[] = [];
  for (const chunk of chunks) {
    if (chunk.type === "text-delta") texts.set(chunk.id, (texts.get(chunk.id) ?? "") + chunk.delta);
    else others.push(chunk);
  }
  return [[...texts], others];
}

function goOn(seen: readonly UiChunk[], replay: readonly UiChunk[]): { rest: UiChunk[]; diverged: boolean } {
  const place = new StreamPlace();
  for (const chunk of seen) place.add(chunk as Parameters<StreamPlace["add"]>[0]);
  let diverged = false;
  const filter = afterPosition(parsePosition(String(place)), () => {
    diverged = true;
  });
  return { rest: replay.flatMap((chunk) => filter(chunk) ?? []), diverged };
}

describe("a position in a stream", () => {
  it("leads on to the same whole, whatever pieces the text comes in", () => {
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        fc.nat(),
        (texts, size, isInterleaved, at) => {
          const live = chunksOf(texts, size, isInterleaved);
          const seen = live.slice(0, at % (live.length + 1));
          const { rest, diverged } = goOn(seen, chunksOf(texts, 100, false));
          expect(diverged).toBe(false);
          expect(folded([...seen, ...rest])).toEqual(folded(live));
        },
      ),
    );
  });

  it("is not found in a turn with other text, or with less", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 5 }), fc.nat(), (texts, size, at) => {
        const live = chunksOf(texts, size, false);
        const seen = live.slice(0, at % (live.length + 1));
        const shown = seen.some(({ type }) => type === "text-delta");
        const other = texts.map((step) => step.map((text) => `\u0000${text}`));
        expect(goOn(seen, chunksOf(other, 100, false)).diverged).toBe(shown);
        const less = goOn(seen, [
          { type: "start", messageId: "t", messageMetadata: {} },
          { type: "finish", finishReason: "other" },
        ]);
        expect(less.diverged).toBe(seen.length > 1);
      }),
    );
  });
});
