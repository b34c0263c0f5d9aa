import type { AgentEvent, Chunk, InputEntry, Role, StepId, StoredChunk } from "@parley/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyEvent } from "./apply-event.js";
import { withRows } from "./apply-rows.js";
import { type ConversationFold, emptyFold } from "./conversation-fold.js";
import { parseCursor } from "./cursor.js";
import type { TurnEvent } from "./event-traits.js";
import { inputChunk } from "./input-chunk.js";
import { messagesOf } from "./message-log.js";
import { type CommittedMessage, closingEvents, replayTurn, sealedEvent } from "./replay-turn.js";

const conversationId = "c";
const turnId = "t";
const startedAt = 5;

const words = fc.string({ minLength: 1, maxLength: 12 });

/** One step: an answer of a few parts, and a result for each of its calls. */
const step = fc.record({
  reasoning: fc.option(words, { nil: undefined }),
  text: fc.option(words, { nil: undefined }),
  calls: fc.array(fc.record({ output: words, isError: fc.boolean(), asked: fc.boolean() }), { maxLength: 3 }),
  steered: fc.option(words, { nil: undefined }),
});

function requestOf(index: number, number: number): InputEntry {
  const toolCallId = `${index}.${number}`;
  const call = { toolCallId, toolName: "work", argumentsHash: "00" };
  return { type: "input-request", requestId: `t.${toolCallId}`, kind: "approval", ...call };
}

function responseOf(index: number, number: number): InputEntry {
  const toolCallId = `${index}.${number}`;
  const call = { toolCallId, toolName: "work", decision: "allow", via: "http" };
  return { type: "input-response", requestId: `t.${toolCallId}`, ...call };
}

interface Turn {
  readonly messages: readonly CommittedMessage[];
  readonly rows: readonly StoredChunk[];
}

const turn = fc.array(step, { minLength: 1, maxLength: 4 }).map((steps): Turn => {
  const messages: CommittedMessage[] = [message("u0", "user", undefined, [{ type: "text", text: "go" }])];
  for (const [index, { reasoning, text, calls, steered }] of steps.entries()) {
    const stepId = `${turnId}.${index}` as StepId;
    const chunks: Chunk[] = [];
    if (reasoning !== undefined) chunks.push({ type: "thinking", text: reasoning });
    if (text !== undefined || (reasoning === undefined && calls.length === 0)) {
      chunks.push({ type: "text", text: text ?? "nothing" });
    }
    for (const number of calls.keys()) {
      chunks.push({
        type: "tool-call",
        stepId,
        toolCallId: `${index}.${number}`,
        toolName: "work",
        input: { number },
      });
    }
    messages.push(message(`a${index}`, "assistant", stepId, chunks));
    const asked = [...calls.keys()].filter((number) => calls[number]?.asked);
    for (const number of asked) {
      messages.push(message(`q${index}.${number}`, "system", stepId, [inputChunk(requestOf(index, number))]));
    }
    for (const [number, { output, isError }] of calls.entries()) {
      const id = `${index}.${number}`;
      if (asked.includes(number)) {
        messages.push(message(`d${id}`, "system", stepId, [inputChunk(responseOf(index, number))]));
      }
      messages.push(
        message(`r${id}`, "tool", stepId, [
          { type: "tool-result", stepId, toolCallId: id, toolName: "work", content: output, isError },
        ]),
      );
    }
    if (steered !== undefined) {
      messages.push(message(`s${index}`, "user", undefined, [{ type: "text", text: steered }]));
    }
  }
  return { messages, rows: rowsOf(messages) };
});

function message(
  id: string,
  role: Role,
  stepId: string | undefined,
  chunks: readonly Chunk[],
): CommittedMessage {
  return { id, role, stepId, createdAt: startedAt, chunks };
}

function rowsOf(messages: readonly CommittedMessage[]): StoredChunk[] {
  let seq = 0;
  return messages.flatMap(({ id, role, stepId, createdAt, chunks }) =>
    chunks.map((chunk, partIndex): StoredChunk => {
      seq += 1;
      const step = stepId === undefined ? {} : { stepId: stepId as StepId };
      const place = { seq, partIndex, partCount: chunks.length };
      return { ...place, role, messageId: id, chunk, turnId, createdAt, ...step };
    }),
  );
}

const steps: readonly [] = [];
const eventsOf = ({ messages }: Turn): TurnEvent[] =>
  replayTurn({ conversationId, turnId, startedAt, messages, steps });

/** Folds events as a subscriber with an empty log receives them. */
function folded(events: readonly AgentEvent[]): ConversationFold {
  let fold = emptyFold(conversationId);
  for (const [n, event] of events.entries()) {
    fold = applyEvent(fold, event, parseCursor(`0~${turnId}~1~${n}`));
  }
  return fold;
}

const contentOf = (fold: ConversationFold) =>
  messagesOf(fold.log).map(({ id, role, parts }) => ({ id, role, chunks: parts.map(({ chunk }) => chunk) }));

describe("the fold of a turn", () => {
  it("is the same from its events as from its rows", () => {
    fc.assert(
      fc.property(turn, (each) => {
        const fromRows = withRows(emptyFold(conversationId), each.rows, turnId);
        expect(contentOf(folded(eventsOf(each)))).toEqual(contentOf(fromRows));
      }),
    );
  });

  it("accepts rows in place of events, wherever the events were cut, and the same rows once", () => {
    fc.assert(
      fc.property(turn, fc.nat(), (each, cut) => {
        const events = eventsOf(each);
        const some = folded(events.slice(0, cut % (events.length + 1)));
        const whole = withRows(some, each.rows, turnId);
        expect(contentOf(whole)).toEqual(contentOf(withRows(emptyFold(conversationId), each.rows, turnId)));
        expect(messagesOf(whole.log).every(({ status }) => status === "committed")).toBe(true);
        expect(withRows(whole, each.rows, turnId)).toBe(whole);
      }),
    );
  });

  it("ignores events that its rows contain", () => {
    fc.assert(
      fc.property(turn, (each) => {
        const known = withRows(emptyFold(conversationId), each.rows, turnId);
        let fold = known;
        for (const event of eventsOf(each)) fold = applyEvent(fold, event, undefined);
        expect(contentOf(fold)).toEqual(contentOf(known));
      }),
    );
  });

  it("is over once it was sealed, whatever follows", () => {
    fc.assert(
      fc.property(turn, (each) => {
        const end = {
          conversationId,
          turnId,
          reason: "stop" as const,
          firstSeq: 1,
          lastSeq: each.rows.length,
        };
        const events = [...eventsOf(each), ...closingEvents(end), sealedEvent(end)];
        const sealed = folded(events);
        expect(sealed.activeTurn).toBeUndefined();
        expect(sealed.turns.settled[turnId]).toMatchObject({ status: "sealed", reason: "stop" });
        const late = { type: "turn-start" as const, conversationId, turnId, startedAt };
        expect(applyEvent(sealed, late, undefined).activeTurn).toBeUndefined();
      }),
    );
  });
});
