import type { AgentEvent, StepId } from "@parley/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkEventOrder } from "./event-order.js";

const conversationId = "c";
const step = (index: number, turnId = "t") => `${turnId}.${index}` as StepId;

function make(turnId = "t") {
  const base = { conversationId, turnId };
  return {
    input: { type: "user-message", ...base, text: "hi" },
    start: { type: "turn-start", ...base },
    text: (index = 0): AgentEvent => ({
      type: "text-delta",
      ...base,
      stepId: step(index, turnId),
      delta: "a",
    }),
    reasoning: (index = 0): AgentEvent => ({
      type: "reasoning-delta",
      ...base,
      stepId: step(index, turnId),
      delta: "a",
    }),
    call: (toolCallId: string, index = 0): AgentEvent => ({
      type: "tool-call",
      ...base,
      stepId: step(index, turnId),
      toolCallId,
      toolName: "f",
      input: {},
    }),
    usage: (index = 0): AgentEvent => ({
      type: "usage",
      ...base,
      stepId: step(index, turnId),
      usage: { inputTokens: 10, outputTokens: 2 },
    }),
    complete: (index = 0): AgentEvent => ({
      type: "step-complete",
      ...base,
      stepId: step(index, turnId),
      ttftMs: 1,
      decodeMs: 2,
      genTotalMs: 3,
    }),
    output: (toolCallId: string): AgentEvent => ({
      type: "tool-output",
      ...base,
      toolCallId,
      data: "x",
      stream: "stdout",
    }),
    result: (toolCallId: string, index = 0): AgentEvent => ({
      type: "tool-result",
      ...base,
      stepId: step(index, turnId),
      toolCallId,
      toolName: "f",
      content: "",
      isError: false,
    }),
    steering: { type: "steering", ...base, text: "more" },
    error: { type: "error", ...base, message: "no" },
    done: (reason = "stop", steps = 1): AgentEvent => ({
      type: "done",
      ...base,
      reason,
      ...(steps === 0
        ? {}
        : { usage: { inputTokens: 10 * steps, outputTokens: 2 * steps }, contextSize: 12 }),
    }),
    sealed: (more: { firstSeq?: number; lastSeq?: number; reason?: string } = {}): AgentEvent => ({
      type: "turn-sealed",
      ...base,
      ...more,
    }),
  } as const;
}

const t = make();
const status = (word: string): AgentEvent => ({ type: "status", conversationId, status: word });

const toolTurn: AgentEvent[] = [
  t.input,
  t.start,
  t.reasoning(),
  t.text(),
  t.call("1"),
  t.call("2"),
  t.usage(),
  t.complete(),
  t.output("2"),
  t.result("2"),
  t.output("1"),
  t.result("1"),
  t.steering,
  t.text(1),
  t.usage(1),
  t.complete(1),
  t.done("stop", 2),
  t.sealed({ firstSeq: 1, lastSeq: 7, reason: "stop" }),
];

const good: [string, AgentEvent[]][] = [
  ["nothing", []],
  ["a turn with tools and steering", toolTurn],
  ["a turn with status events around it", [status("active"), ...toolTurn, status("idle"), status("closed")]],
  [
    "text between calls",
    [t.input, t.start, t.call("1"), t.text(), t.usage(), t.complete(), t.done("tool-calls"), t.sealed()],
  ],
  ["a failure before the first step", [t.input, t.start, t.error, t.done("error", 0), t.sealed()]],
  [
    "a failure behind a call",
    [t.input, t.start, t.call("1"), t.complete(), t.result("1"), t.error, t.done("error", 0), t.sealed()],
  ],
  ["a stop without any output", [t.input, t.start, t.complete(), t.done("aborted", 0), t.sealed()]],
  ["a step that a crash cut off", [t.input, t.start, t.text(), t.done("interrupted", 0), t.sealed()]],
];

const bad: [string, AgentEvent[], RegExp][] = [
  ["no user-message", [t.start, t.done("stop", 0), t.sealed()], /outside a turn/],
  ["no turn-start", [t.input, t.text(), t.usage(), t.complete(), t.done(), t.sealed()], /before turn-start/],
  [
    "a second turn-start",
    [t.input, t.start, t.start, t.done("stop", 0), t.sealed()],
    /not right behind user-message/,
  ],
  ["no step-complete", [t.input, t.start, t.text(), t.usage(), t.done(), t.sealed()], /no step-complete/],
  [
    "a delta behind step-complete",
    [t.input, t.start, t.complete(), t.text(), t.complete(), t.done("stop", 0), t.sealed()],
    /already complete|without calls/,
  ],
  [
    "two usages in a step",
    [t.input, t.start, t.usage(), t.usage(), t.complete(), t.done("stop", 2), t.sealed()],
    /twice in one step/,
  ],
  [
    "a result before step-complete",
    [t.input, t.start, t.call("1"), t.result("1"), t.complete(), t.done("stop", 0), t.sealed()],
    /before step-complete/,
  ],
  [
    "a result without a call",
    [
      t.input,
      t.start,
      t.call("1"),
      t.complete(),
      t.result("1"),
      t.result("9"),
      t.done("aborted", 0),
      t.sealed(),
    ],
    /not of this step/,
  ],
  [
    "two results of a call",
    [
      t.input,
      t.start,
      t.call("1"),
      t.complete(),
      t.result("1"),
      t.result("1"),
      t.done("aborted", 0),
      t.sealed(),
    ],
    /already has its result/,
  ],
  [
    "output behind its result",
    [
      t.input,
      t.start,
      t.call("1"),
      t.complete(),
      t.result("1"),
      t.output("1"),
      t.done("aborted", 0),
      t.sealed(),
    ],
    /already has its result/,
  ],
  [
    "a call twice",
    [
      t.input,
      t.start,
      t.call("1"),
      t.call("1"),
      t.complete(),
      t.result("1"),
      t.done("aborted", 0),
      t.sealed(),
    ],
    /came twice/,
  ],
  [
    "a step before all results",
    [t.input, t.start, t.call("1"), t.complete(), t.text(1), t.complete(1), t.done("stop", 0), t.sealed()],
    /has no result/,
  ],
  [
    "an open call at the end",
    [t.input, t.start, t.call("1"), t.complete(), t.done("aborted", 0), t.sealed()],
    /has no result/,
  ],
  [
    "an open call at an error",
    [t.input, t.start, t.call("1"), t.complete(), t.error, t.done("error", 0), t.sealed()],
    /has no result/,
  ],
  [
    "steering before the last result",
    [
      t.input,
      t.start,
      t.call("1"),
      t.call("2"),
      t.complete(),
      t.result("1"),
      t.steering,
      t.result("2"),
      t.done("max-steps", 0),
      t.sealed(),
    ],
    /before the last result/,
  ],
  [
    "steering without tools",
    [t.input, t.start, t.complete(), t.steering, t.done("stop", 0), t.sealed()],
    /tool-result boundary/,
  ],
  [
    "steering twice",
    [
      t.input,
      t.start,
      t.call("1"),
      t.complete(),
      t.result("1"),
      t.steering,
      t.steering,
      t.done("max-steps", 0),
      t.sealed(),
    ],
    /twice at one boundary/,
  ],
  [
    "another step's event inside a step",
    [t.input, t.start, t.text(), t.text(1), t.complete(), t.done("stop", 0), t.sealed()],
    /inside step/,
  ],
  [
    "something between error and done",
    [t.input, t.start, t.error, t.text(), t.done("error", 0), t.sealed()],
    /between error and done/,
  ],
  [
    "an error with another reason",
    [t.input, t.start, t.error, t.done("stop", 0), t.sealed()],
    /behind an error/,
  ],
  [
    "reason error without an error",
    [t.input, t.start, t.done("error", 0), t.sealed()],
    /without an error event/,
  ],
  ["no done", [t.input, t.start, t.sealed()], /before done/],
  ["no turn-sealed", [t.input, t.start, t.done("stop", 0)], /did not end with turn-sealed/],
  ["two dones", [t.input, t.start, t.done("stop", 0), t.done("stop", 0), t.sealed()], /behind done/],
  [
    "another reason in the seal",
    [t.input, t.start, t.done("stop", 0), t.sealed({ reason: "aborted" })],
    /but done said/,
  ],
  [
    "usage that is not the sum",
    [t.input, t.start, t.usage(), t.complete(), t.done("stop", 2), t.sealed()],
    /steps sum to/,
  ],
  [
    "usage lost",
    [t.input, t.start, t.usage(), t.complete(), t.done("stop", 0), t.sealed()],
    /although a step reported/,
  ],
  ["a turn begun twice", [...toolTurn, t.input, t.start, t.done("stop", 0), t.sealed()], /began twice/],
  [
    "a status inside the turn",
    [t.input, status("idle"), t.start, t.done("stop", 0), t.sealed()],
    /inside turn/,
  ],
  [
    "a turn while idle",
    [status("idle"), t.input, t.start, t.done("stop", 0), t.sealed()],
    /while the status is "idle"/,
  ],
  [
    "an event of another turn",
    [t.input, t.start, make("u").text(), t.complete(), t.done("stop", 0), t.sealed()],
    /inside turn t/,
  ],
  [
    "seqs that go back",
    [
      ...toolTurn,
      make("u").input,
      make("u").start,
      make("u").done("stop", 0),
      make("u").sealed({ firstSeq: 7, lastSeq: 8 }),
    ],
    /not behind/,
  ],
];

describe("checkEventOrder", () => {
  for (const [what, events] of good) {
    it(`accepts ${what}`, () => expect(checkEventOrder(events)).toEqual([]));
  }
  for (const [what, events, message] of bad) {
    it(`refuses ${what}`, () => expect(checkEventOrder(events).join("\n")).toMatch(message));
  }

  it("names the event", () => {
    expect(checkEventOrder([t.start], { unfinished: true })).toEqual([
      "event 0 (turn-start): outside a turn: a turn begins with user-message",
    ]);
  });

  it("accepts any prefix of a right order when it may be unfinished", () => {
    for (let length = 0; length <= toolTurn.length; length++) {
      expect(checkEventOrder(toolTurn.slice(0, length), { unfinished: true })).toEqual([]);
    }
  });

  it("checks the events of the turn loop, which end with done", () => {
    const loop = toolTurn.slice(0, -1);
    expect(checkEventOrder(loop, { lastEvent: "done" })).toEqual([]);
    expect(checkEventOrder(loop.slice(0, -1), { lastEvent: "done" })).not.toEqual([]);
  });

  it("checks conversations apart, however their events mix", () => {
    const other = toolTurn.map((event) => ({ ...event, conversationId: "d" }));
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }), (picks) => {
        const queues = [[...toolTurn], [...other]];
        const mixed: AgentEvent[] = [];
        for (const pick of picks) {
          const event = (pick ? queues[0] : queues[1])?.shift();
          if (event !== undefined) mixed.push(event);
        }
        for (const queue of queues) mixed.push(...queue);
        expect(checkEventOrder(mixed)).toEqual([]);
      }),
    );
  });

  it("notices when any event of a whole turn is lost, but for what may be absent", () => {
    const optional = new Set(["reasoning-delta", "text-delta", "tool-output", "steering"]);
    for (const [index, event] of toolTurn.entries()) {
      const without = toolTurn.toSpliced(index, 1);
      expect([event.type, checkEventOrder(without).length > 0]).toEqual([
        event.type,
        !optional.has(event.type),
      ]);
    }
  });

  it("passes over kinds it does not know", () => {
    const added = { type: "approval-requested", conversationId, turnId: "t" } as unknown as AgentEvent;
    expect(checkEventOrder(toolTurn.toSpliced(6, 0, added))).toEqual([]);
  });
});
