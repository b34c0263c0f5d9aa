import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { layoutTimeline, type TimelineStep, timeTicks } from "./timeline.js";

const step = (more: Partial<TimelineStep> & { stepId: string }): TimelineStep => ({
  complete: true,
  tools: [],
  ...more,
});

describe("layoutTimeline", () => {
  it("puts a step after the one before it, and its tools side by side after its last token", () => {
    const { rows, totalMs, spent } = layoutTimeline({
      durationMs: 1_000,
      steps: [
        step({
          stepId: "t.0",
          ttftMs: 100,
          decodeMs: 200,
          genTotalMs: 300,
          toolMs: 60,
          tools: [
            { toolCallId: "a", toolName: "clock", status: "done", durationMs: 20 },
            { toolCallId: "b", toolName: "search", status: "failed", durationMs: 50 },
          ],
        }),
        step({ stepId: "t.1", ttftMs: 40, decodeMs: 160, genTotalMs: 200 }),
      ],
    });
    expect(rows.map(({ label, kind, failed }) => [label, kind, failed])).toEqual([
      ["Step 1", "model", false],
      ["clock", "tool", false],
      ["search", "tool", true],
      ["Step 2", "model", false],
    ]);
    expect(rows.map(({ bars }) => bars.map(({ startMs, endMs }) => [startMs, endMs]))).toEqual([
      [
        [0, 100],
        [100, 300],
      ],
      [[300, 320]],
      [[300, 350]],
      [
        [360, 400],
        [400, 560],
      ],
    ]);
    expect(totalMs).toBe(1_000);
    expect(spent).toEqual({ waitMs: 140, writeMs: 360, toolMs: 60, restMs: 440 });
  });

  it("keeps waiting for a decision apart from the tools and the rest", () => {
    const pay = { toolCallId: "a", toolName: "pay", status: "done" as const, durationMs: 20, waitedMs: 600 };
    const tools = [pay, { toolCallId: "b", toolName: "clock", status: "done" as const, durationMs: 50 }];
    const steps = [
      step({ stepId: "t.0", genTotalMs: 300, toolMs: 70, tools }),
      step({ stepId: "t.1", genTotalMs: 30 }),
    ];
    const { rows, spent } = layoutTimeline({ durationMs: 1_000, waitedMs: 540, steps });
    const lane = rows[1];
    expect(lane?.bars.map(({ kind, startMs, endMs }) => [kind, startMs, endMs])).toEqual([
      ["input", 300, 900],
      ["tool", 900, 920],
    ]);
    expect(lane?.durationMs).toBe(20);
    expect(rows[3]?.bars[0]?.startMs).toBe(920);
    expect(spent).toEqual({ waitMs: 0, writeMs: 330, toolMs: 70, inputMs: 540, restMs: 60 });
    // While it waits: to the present, and it does not count as work.
    const open = layoutTimeline({
      startedAt: 0,
      now: 2_300,
      steps: [step({ stepId: "t.0", genTotalMs: 300, tools: [{ ...pay, status: "waiting" as const }] })],
    });
    expect(open.rows[1]).toMatchObject({ bars: [{ kind: "input", endMs: 2_300, open: true }] });
    expect(open.rows[1]?.durationMs).toBeUndefined();
  });

  it("leaves the gap between steps that the calls' own times show", () => {
    const { rows } = layoutTimeline({
      startedAt: 10_000,
      steps: [
        step({ stepId: "t.0", startedAt: 10_050, genTotalMs: 100 }),
        step({ stepId: "t.1", startedAt: 10_400, genTotalMs: 100 }),
        // A clock that was set back does not move a step into the one before it.
        step({ stepId: "t.2", startedAt: 10_100, genTotalMs: 100 }),
      ],
    });
    expect(rows.map(({ bars }) => bars[0]?.startMs)).toEqual([50, 400, 500]);
  });

  it("starts when the work does, if the steps would otherwise end after the turn", () => {
    const { rows, totalMs } = layoutTimeline({
      startedAt: 10_000,
      durationMs: 19,
      steps: [
        step({ stepId: "t.0", startedAt: 10_013, genTotalMs: 6 }),
        step({ stepId: "t.1", startedAt: 10_024, genTotalMs: 6 }),
      ],
    });
    expect(rows.map(({ bars }) => [bars[0]?.startMs, bars[0]?.endMs])).toEqual([
      [2, 8],
      [13, 19],
    ]);
    expect(totalMs).toBe(19);
  });

  it("extends what is running to now", () => {
    const writing = layoutTimeline({
      startedAt: 1_000,
      now: 1_700,
      steps: [step({ stepId: "t.0", complete: false })],
    });
    expect(writing.rows[0]?.bars).toEqual([{ kind: "generate", startMs: 0, endMs: 700, open: true }]);
    const working = layoutTimeline({
      startedAt: 1_000,
      now: 2_000,
      steps: [
        step({
          stepId: "t.0",
          ttftMs: 100,
          decodeMs: 100,
          genTotalMs: 200,
          tools: [
            { toolCallId: "a", toolName: "slow", status: "running" },
            { toolCallId: "b", toolName: "quick", status: "done", durationMs: 10 },
          ],
        }),
      ],
    });
    expect(working.rows[1]?.bars).toEqual([{ kind: "tool", startMs: 200, endMs: 1_000, open: true }]);
    expect(working.rows[2]?.bars[0]?.open).toBe(false);
    expect(working.totalMs).toBe(1_000);
  });

  it("draws nothing if nothing is known, instead of a bar of no length", () => {
    const { rows, spent } = layoutTimeline({
      steps: [
        step({ stepId: "t.0", tools: [{ toolCallId: "a", toolName: "lost", status: "failed" }] }),
        step({ stepId: "t.1", complete: false }),
      ],
    });
    expect(rows.map(({ bars, durationMs }) => [bars, durationMs])).toEqual([
      [[], undefined],
      [[], undefined],
      [[], undefined],
    ]);
    expect(spent.restMs).toBeUndefined();
  });

  it("tolerates a browser whose clock is behind the server's", () => {
    const { rows, totalMs } = layoutTimeline({
      startedAt: 5_000,
      now: 1_000,
      steps: [step({ stepId: "t.0", complete: false })],
    });
    expect(rows[0]?.bars).toEqual([{ kind: "generate", startMs: 0, endMs: 0, open: true }]);
    expect(totalMs).toBe(1);
  });

  it("keeps every bar on the axis, and the steps in order, whatever is known of them", () => {
    const ms = fc.option(fc.integer({ min: 0, max: 5_000 }), { nil: undefined });
    const tool = fc.record({
      toolCallId: fc.uuid(),
      toolName: fc.constantFrom("a", "b"),
      status: fc.constantFrom("running" as const, "done" as const, "failed" as const),
      durationMs: ms,
    });
    const steps = fc.array(
      fc.record({
        stepId: fc.uuid(),
        complete: fc.boolean(),
        startedAt: ms,
        ttftMs: ms,
        decodeMs: ms,
        genTotalMs: ms,
        toolMs: ms,
        tools: fc.array(tool, { maxLength: 3 }),
      }),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(steps, ms, ms, ms, (all, startedAt, now, durationMs) => {
        const { rows, totalMs } = layoutTimeline({ startedAt, now, durationMs, steps: all });
        let reached = 0;
        for (const row of rows) {
          for (const { startMs, endMs } of row.bars) {
            expect(startMs).toBeGreaterThanOrEqual(0);
            expect(endMs).toBeGreaterThanOrEqual(startMs);
            expect(endMs).toBeLessThanOrEqual(totalMs);
          }
          const first = row.bars[0];
          if (row.kind === "model" && first !== undefined) {
            expect(first.startMs).toBeGreaterThanOrEqual(reached);
            reached = first.startMs;
          }
        }
      }),
    );
  });
});

describe("timeTicks", () => {
  it.each([
    [950, 4, [0, 500]],
    [1_000, 4, [0, 500, 1_000]],
    [4_000, 4, [0, 1_000, 2_000, 3_000, 4_000]],
    [1, 4, [0, 0.5, 1]],
  ])("marks %d ms with at most %d round places", (total, count, ticks) => {
    expect(timeTicks(total, count)).toEqual(ticks);
  });

  it("never makes more marks than requested", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1, max: 1e8, noNaN: true }),
        fc.integer({ min: 1, max: 8 }),
        (total, count) => {
          expect(timeTicks(total, count).length).toBeLessThanOrEqual(count + 1);
        },
      ),
    );
  });
});
