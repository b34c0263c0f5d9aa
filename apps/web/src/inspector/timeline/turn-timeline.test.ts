import type { TurnState } from "@parley/client";
import type { ProviderCallInfo, StepId } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { turnTimeline } from "./turn-timeline.js";

const first = "t.0" as StepId;
const second = "t.1" as StepId;
const running: TurnState = { turnId: "t", status: "running", startedAt: 1_000, steps: [], toolOutput: {} };
const call = (stepId: StepId, startedAt: number, more: Partial<ProviderCallInfo> = {}): ProviderCallInfo => ({
  id: `call-${startedAt}`,
  stepId,
  model: "demo/demo",
  provider: "demo",
  startedAt,
  ...more,
});

describe("turnTimeline", () => {
  it("waits for the first token while no output of a step has arrived", () => {
    const turn = turnTimeline({ live: running, now: 1_500 });
    expect(turn).toMatchObject({ startedAt: 1_000, now: 1_500, steps: [{ waiting: true, complete: false }] });
  });

  it("waits again when all tools of a step are done, and not before", () => {
    const live: TurnState = { ...running, steps: [{ stepId: first, complete: true, genTotalMs: 10 }] };
    const tool = { toolCallId: "a", toolName: "clock" };
    const busy = turnTimeline({ live, liveTools: { [first]: [{ ...tool, status: "running" }] }, now: 1_500 });
    expect(busy.steps).toHaveLength(1);
    const done = turnTimeline({ live, liveTools: { [first]: [{ ...tool, status: "failed" }] }, now: 1_500 });
    expect(done.steps.map(({ waiting }) => waiting)).toEqual([undefined, true]);
  });

  it("does not wait in a turn that has ended", () => {
    const live: TurnState = { ...running, status: "sealed", durationMs: 700 };
    expect(turnTimeline({ live, now: 9_000 })).toEqual({ startedAt: 1_000, durationMs: 700, steps: [] });
  });

  it("prefers stored figures to live ones, and takes a step's start from its own call", () => {
    const turn = turnTimeline({
      live: { ...running, steps: [{ stepId: first, complete: false }] },
      metrics: {
        turnId: "t",
        usage: { inputTokens: 5, outputTokens: 2 },
        durationMs: 400,
        steps: [
          {
            stepId: first,
            usage: { inputTokens: 0, outputTokens: 0 },
            ttftMs: 5,
            decodeMs: 6,
            genTotalMs: 11,
            tools: [{ toolCallId: "a", toolName: "clock", isError: true, durationMs: 3 }],
          },
          { stepId: second, usage: { inputTokens: 5, outputTokens: 2 } },
        ],
      },
      startedAt: 1_000,
      calls: [call(first, 1_005), call(second, 1_100, { purpose: "compaction" }), call(second, 1_200)],
      now: 5_000,
    });
    expect(turn.now).toBeUndefined();
    expect(turn.steps.map(({ startedAt, usage }) => [startedAt, usage?.inputTokens])).toEqual([
      [1_005, undefined],
      [1_200, 5],
    ]);
    expect(turn.steps[0]?.tools).toMatchObject([{ status: "failed", durationMs: 3 }]);
  });

  it("reads from the log how long a call waited for its decision", () => {
    const tool = { toolCallId: "a", toolName: "pay" };
    const entry = (type: "input-request" | "input-response", createdAt: number, requestId = "q1") =>
      ({ createdAt, chunk: { type: "system", text: "", input: { type, requestId, ...tool } } }) as never;
    const turn = turnTimeline({
      metrics: {
        turnId: "t",
        usage: { inputTokens: 5, outputTokens: 2 },
        durationMs: 900,
        waitedMs: 480,
        steps: [
          {
            stepId: first,
            usage: { inputTokens: 5, outputTokens: 2 },
            tools: [{ ...tool, isError: false, durationMs: 3 }],
          },
        ],
      },
      chunks: [
        entry("input-request", 1_000),
        entry("input-response", 1_500),
        // Requested while it ran: part of its own time.
        entry("input-request", 1_600, "q2"),
        entry("input-response", 1_700, "q2"),
      ],
      now: 0,
    });
    expect(turn.waitedMs).toBe(480);
    expect(turn.steps[0]?.tools).toMatchObject([{ durationMs: 3, waitedMs: 500 }]);
  });

  it("does not wait for the model while a call waits for a decision", () => {
    const live: TurnState = { ...running, steps: [{ stepId: first, complete: true, genTotalMs: 10 }] };
    const waiting = { toolCallId: "a", toolName: "pay", status: "waiting" as const };
    expect(turnTimeline({ live, liveTools: { [first]: [waiting] }, now: 1_500 }).steps).toHaveLength(1);
  });
});
