import type { AgentEvent, StepId } from "@parley/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ResponseStream } from "../../stream/response-stream.js";
import { ResponseWriter } from "./follow-response.js";
import type { ResponseHead } from "./response-object.js";

interface Frame {
  readonly type: string;
  readonly sequence_number: number;
  readonly [field: string]: unknown;
}

const turn = { conversationId: "c", turnId: "t" };

const piece = fc.string({ minLength: 1, maxLength: 5, unit: "grapheme" });
const pieces = fc.array(piece, { minLength: 1, maxLength: 4 });
const part = fc.record({ kind: fc.constantFrom("text-delta" as const, "reasoning-delta" as const), pieces });
const call = fc.record({
  asks: fc.constantFrom(undefined, "tool-output", "approval"),
  isError: fc.boolean(),
  args: piece,
});
const step = fc.record({
  parts: fc.array(part, { maxLength: 3 }),
  calls: fc.array(call, { maxLength: 3 }),
  order: fc.array(fc.nat(), { minLength: 3, maxLength: 3 }),
});
const anyTurn = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 4 }),
  reason: fc.constantFrom("stop", "length", "aborted", "error", "tool-calls"),
});

type AnyTurn = typeof anyTurn extends fc.Arbitrary<infer T> ? T : never;
type AnyStep = AnyTurn["steps"][number];

/** Returns the events of a turn: live in pieces and with results as they come, or as rows give them. */
function eventsOf({ steps, reason }: AnyTurn, isLive: boolean): AgentEvent[] {
  const events: AgentEvent[] = [
    { type: "user-message", ...turn, text: "Hi" },
    { type: "turn-start", ...turn },
  ];
  for (const [index, each] of steps.entries()) events.push(...stepEvents(each, index, isLive));
  if (reason === "error") events.push({ type: "error", ...turn, message: "No", code: "network" });
  events.push({ type: "done", ...turn, reason, durationMs: 5 }, { type: "turn-sealed", ...turn, reason });
  return events;
}

function stepEvents({ parts, calls, order }: AnyStep, index: number, isLive: boolean): AgentEvent[] {
  const stepId = `t.${index}` as StepId;
  const place = { ...turn, stepId, messageId: `m${index}` };
  const texts = parts.flatMap(({ kind, pieces: said }, partIndex): AgentEvent[] =>
    (isLive ? said : [said.join("")]).map((delta) => ({ type: kind, ...place, partIndex, delta })),
  );
  const made = calls.map((each, at) => ({ ...each, toolCallId: `k${index}.${at}`, at }));
  const asked = made.filter(({ asks }) => asks !== undefined);
  const results = isLive ? made.toSorted((a, b) => (order[a.at] ?? 0) - (order[b.at] ?? 0)) : made;
  return [
    ...texts,
    ...made.map(
      ({ toolCallId, args, at }): AgentEvent => ({
        type: "tool-call",
        ...place,
        toolCallId,
        toolName: "tool",
        input: {},
        argumentsText: args,
        partIndex: parts.length + at,
      }),
    ),
    { type: "usage", ...turn, stepId, usage: { inputTokens: 2, outputTokens: 1 } },
    { type: "step-complete", ...turn, stepId },
    ...asked.map(
      ({ toolCallId, asks = "" }): AgentEvent => ({
        type: "input-request",
        ...place,
        input: {
          type: "input-request",
          requestId: toolCallId,
          kind: asks,
          toolCallId,
          toolName: "tool",
          argumentsHash: "",
        },
      }),
    ),
    ...results.map(
      ({ toolCallId, isError }): AgentEvent => ({
        type: "tool-result",
        ...place,
        toolCallId,
        toolName: "tool",
        content: `result of ${toolCallId}`,
        isError,
      }),
    ),
  ];
}

function framesOf(events: readonly AgentEvent[], stretch: number, startingAfter?: number): Frame[] {
  const frames: Frame[] = [];
  const stream = {
    write: (bytes: Buffer) => frames.push(JSON.parse(String(bytes).split("\ndata: ")[1] ?? "") as Frame),
    end: () => {},
  } as unknown as ResponseStream;
  const head: ResponseHead = {
    place: { turnId: "t", stretch },
    conversationId: "c",
    createdAt: 0,
    model: "m",
  };
  const writer = new ResponseWriter(stream, head, { startingAfter, holdsText: false });
  writer.begin();
  for (const event of events) if (writer.take(event)) break;
  return frames;
}

/** Folds frames as a client does: the texts by item, the finished items, and the end. */
function fold(frames: readonly Frame[]) {
  const texts: Record<string, string> = {};
  const items: unknown[] = [];
  let end: Frame | undefined;
  for (const frame of frames) {
    if (frame.type.endsWith(".delta")) {
      const id = String(frame.item_id);
      texts[id] = (texts[id] ?? "") + String(frame.delta);
    }
    if (frame.type === "response.output_item.done") items.push(frame.item);
    if (/completed$|incomplete$|failed$/.test(frame.type) && "response" in frame) end = frame;
  }
  return { texts, items, end };
}

function stretchesOf({ steps }: AnyTurn): number[] {
  const asking = steps.filter(({ calls }) => calls.some(({ asks }) => asks !== undefined)).length;
  return Array.from({ length: asking + 1 }, (_, stretch) => stretch);
}

describe("the numbers of a response's events", () => {
  it("mean the same live and on replay, and cut it anywhere", () => {
    fc.assert(
      fc.property(anyTurn, (given) => {
        const shown: unknown[] = [];
        for (const stretch of stretchesOf(given)) {
          const live = framesOf(eventsOf(given, true), stretch);
          const stored = eventsOf(given, false);
          const whole = fold(live);
          expect(whole.end?.response).toMatchObject({ output: whole.items });
          expect(fold(framesOf(stored, stretch))).toEqual(whole);
          shown.push(...whole.items);
          const numbers = live.map(({ sequence_number: number }) => number);
          expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
          for (const [index, number] of numbers.entries()) {
            const rest = framesOf(stored, stretch, number);
            expect(fold([...live.slice(0, index + 1), ...rest])).toEqual(whole);
          }
        }
        const said = given.steps.flatMap(({ parts }) => parts);
        const isSaid = (item: unknown) => /^(?:message|reasoning)$/.test((item as { type: string }).type);
        expect(shown.filter(isSaid), "each part is in one response").toHaveLength(said.length);
        const calls = given.steps.flatMap((each) => each.calls);
        const items = calls.length + calls.filter(({ asks }) => asks === "approval").length;
        expect(shown.length - said.length, "each call, and each request with its result").toBe(items);
      }),
      { numRuns: 150 },
    );
  });

  it("begin and end each item, in order, with the events that the protocol asks for", () => {
    const given: AnyTurn = {
      steps: [
        {
          parts: [{ kind: "text-delta", pieces: ["a", "b"] }],
          calls: [{ asks: undefined, isError: false, args: "{}" }],
          order: [0, 0, 0],
        },
      ],
      reason: "stop",
    };
    expect(framesOf(eventsOf(given, true), 0).map(({ type }) => type.replace("response.", ""))).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "output_item.added",
      "mcp_call_arguments.delta",
      "mcp_call_arguments.done",
      "mcp_call.in_progress",
      "mcp_call.completed",
      "output_item.done",
      "completed",
    ]);
  });
});
