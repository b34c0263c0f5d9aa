import { gapsOf } from "@parley/fold";
import type { Role, StepId, StoredChunk } from "@parley/wire";
import fc from "fast-check";
import { expect, it } from "vitest";
import { applyHistory } from "./apply-history.js";
import type { ConversationState } from "./conversation-state.js";
import { foldOf, initialState } from "./fold.js";
import { conversationId } from "./frames.test-support.js";

/** A log of turns; of each message only its number of parts counts. */
const log = fc
  .array(fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 5 }), {
    minLength: 1,
    maxLength: 8,
  })
  .map((turns) => {
    const chunks: StoredChunk[] = [];
    for (const [turn, messages] of turns.entries()) {
      for (const [place, partCount] of messages.entries()) {
        const role: Role = place === 0 ? "user" : place % 2 === 1 ? "assistant" : "tool";
        for (let partIndex = 0; partIndex < partCount; partIndex += 1) {
          const seq = chunks.length + 1;
          const step = role === "user" ? {} : { stepId: `t${turn}.0` as StepId };
          const call = { toolCallId: `call ${turn}.${place}`, toolName: "work" };
          const chunk =
            role === "tool"
              ? ({ type: "tool-result", ...call, content: "done", isError: false } as const)
              : ({ type: "text", text: `said ${seq}` } as const);
          const ids = { messageId: `t${turn}.m${place}`, turnId: `t${turn}`, ...step };
          chunks.push({ seq, role, ...ids, partIndex, partCount, createdAt: turn, chunk });
        }
      }
    }
    return chunks;
  });

/** A log, and pages of it in an order of their own that together are all of it. Some have parts in common. */
const loads = log.chain((chunks) =>
  fc
    .array(fc.tuple(fc.nat(chunks.length), fc.nat(chunks.length)), { maxLength: 12 })
    .map((ends) => ({
      chunks,
      pages: [...ends.map(([a, b]) => chunks.slice(Math.min(a, b), Math.max(a, b))), chunks],
    }))
    .chain(({ pages }) =>
      fc.array(fc.nat(chunks.length), { maxLength: 6 }).map((cuts) => {
        const places = [...new Set([0, ...cuts, chunks.length])].sort((a, b) => a - b);
        const pieces = places.slice(1).map((end, index) => chunks.slice(places[index], end));
        return { chunks, pages: [...pages.slice(0, -1), ...pieces] };
      }),
    )
    .chain(({ pages }) =>
      fc
        .shuffledSubarray(pages, { minLength: pages.length, maxLength: pages.length })
        .map((shuffled) => ({ chunks, pages: shuffled })),
    ),
);

const load = (state: ConversationState, chunks: readonly StoredChunk[]) =>
  applyHistory(state, { chunks, latestSeq: chunks.at(-1)?.seq ?? 0 });

const plain = (state: ConversationState): unknown => JSON.parse(JSON.stringify(state));

/** The stretches of a log without these seqs, in front of the last of them. */
function missing(loaded: ReadonlySet<number>): unknown {
  const gaps: { afterSeq: number; beforeSeq: number }[] = [];
  let afterSeq = 0;
  for (const seq of [...loaded].sort((a, b) => a - b)) {
    if (seq > afterSeq + 1) gaps.push({ afterSeq, beforeSeq: seq });
    afterSeq = seq;
  }
  return gaps;
}

it("is the same state in whatever order the pages of a log come, and always says what is missing", () => {
  fc.assert(
    fc.property(loads, ({ chunks, pages }) => {
      const whole = load(initialState(conversationId), chunks);
      let state = initialState(conversationId);
      const loaded = new Set<number>();
      for (const page of pages) {
        state = load(state, page);
        for (const { seq } of page) loaded.add(seq);
        expect(state.gaps).toEqual(missing(loaded));
        expect(state.hasEarlier).toBe(loaded.size > 0 && !loaded.has(1));
        expect(state.messages.flatMap(({ parts }) => parts.map(({ seq }) => seq))).toEqual(
          [...loaded].sort((a, b) => a - b),
        );
      }
      expect(state.gaps).toEqual([]);
      expect(plain(state)).toEqual(plain(whole));
      // A state that was kept as JSON has its gaps again.
      expect(gapsOf(foldOf(plain(state) as ConversationState).conversation.log)).toEqual([]);
    }),
  );
});
