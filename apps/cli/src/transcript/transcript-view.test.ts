import { applyFrame, applyHistory, type ConversationState, initialState } from "@parley/client";
import type { AgentEvent, Cursor, StepId, StoredChunk } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { createStyle } from "../terminal/style.js";
import { TranscriptView } from "./transcript-view.js";

const options = { columns: 60, style: createStyle(false) };
const conversationId = "c";
const turnId = "t";
const stepId = "t#0" as StepId;

/** A conversation that is followed: events go in, lines come out. */
function follow(history: readonly StoredChunk[] = []) {
  let now = 0;
  const view = new TranscriptView({ now: () => now });
  let state: ConversationState = applyHistory(initialState(conversationId), {
    chunks: history,
    latestSeq: history.length,
  });
  const scrollback: string[] = [];
  let n = 0;
  const look = () => {
    const { print, live, isMoving } = view.update(state, options);
    scrollback.push(...print);
    return { live, isMoving };
  };
  return {
    scrollback,
    look,
    view,
    get state() {
      return state;
    },
    wait(ms: number) {
      now += ms;
      return look();
    },
    add(event: Partial<AgentEvent> & { type: AgentEvent["type"] }) {
      const whole = { conversationId, turnId, ...event } as AgentEvent;
      state = applyFrame(state, { type: "chat.delta", event: whole, cursor: `0~t~1~${n++}` as Cursor });
      return look();
    },
    reset() {
      state = applyFrame(state, { type: "chat.reset", conversationId, turnId });
      return look();
    },
    commit(chunks: readonly StoredChunk[]) {
      state = applyFrame(state, {
        type: "chat.chunks",
        conversationId,
        chunks,
        cursor: String(chunks.at(-1)?.seq ?? 0) as Cursor,
      });
      return look();
    },
  };
}

const asked = (text: string) => ({ type: "user-message" as const, text, messageId: "u" });
const said = (delta: string, partIndex = 0) => ({
  type: "text-delta" as const,
  delta,
  stepId,
  messageId: "a",
  partIndex,
});
const thought = (delta: string) => ({
  type: "reasoning-delta" as const,
  delta,
  stepId,
  messageId: "a",
  partIndex: 0,
});
const row = (seq: number, text: string, more: Partial<StoredChunk> = {}): StoredChunk => ({
  seq,
  role: "assistant",
  chunk: { type: "text", text },
  messageId: "a",
  turnId,
  stepId,
  partIndex: 0,
  partCount: 1,
  ...more,
});
const user = (seq: number, text: string): StoredChunk => {
  const { stepId: _, ...rest } = row(seq, text, { role: "user", messageId: "u" });
  return rest;
};

describe("a followed conversation in a terminal", () => {
  it("prints the question, then each piece of the answer when it is final, and shows the rest as live", () => {
    const one = follow();
    one.add(asked("Hello?"));
    one.add({ type: "turn-start" });
    expect(one.scrollback).toEqual(["› Hello?"]);
    expect(one.add(said("One **bo")).live).toEqual(["", "One **bo"]);
    expect(one.add(said("ld** word.\n\nTw")).live).toEqual(["", "Tw"]);
    expect(one.scrollback).toEqual(["› Hello?", "", "One bold word."]);
    one.add(said("o."));
    one.add({ type: "step-complete", stepId });
    one.add({ type: "done", reason: "stop", durationMs: 2_100, contextSize: 395 });
    const { live } = one.add({ type: "turn-sealed", firstSeq: 1, lastSeq: 2, reason: "stop" });
    expect(live).toEqual([]);
    expect(one.scrollback).toEqual([
      "› Hello?",
      "",
      "One bold word.",
      "",
      "Two.",
      "",
      "─ 2.1 s · context 395",
    ]);
  });

  it("dims reasoning behind a line, and prints its lines as they fill", () => {
    const one = follow();
    one.add(asked("Hello?"));
    const { live } = one.add(
      thought("A thought that is longer than one line of this narrow terminal can hold"),
    );
    expect(one.scrollback.at(-1)).toMatch(/^┊ A thought/);
    expect(live[0]).toMatch(/^┊ \S/);
  });

  it("shows a call that waits, and with its result who decided on it", () => {
    const one = follow();
    const call = { toolCallId: "1", toolName: "pay" };
    const request = { type: "input-request" as const, requestId: "t#0.0", kind: "approval" as const };
    const response = { type: "input-response" as const, requestId: "t#0.0", via: "http" as const };
    one.add(asked("Pay!"));
    const place = { stepId, messageId: "a", partIndex: 0 };
    one.add({ type: "tool-call", ...place, ...call, input: {}, argumentsText: '{"to":"bob"}' });
    const { live, isMoving } = one.add({
      type: "input-request",
      stepId,
      messageId: "q",
      input: { ...request, ...call, argumentsHash: "00", reason: "much\u202E" },
    });
    expect(isMoving).toBe(false);
    expect(live.join("\n")).toBe('\n? pay {"to":"bob"}\n  └ waits for approval: much\\u202e');
    one.add({
      type: "input-response",
      stepId,
      messageId: "d",
      input: {
        ...response,
        ...call,
        decision: "allow",
        by: { owner: "ann", label: "pk_12" },
        scope: { in: "conversation" },
      },
    });
    one.add({ type: "tool-result", ...call, stepId, content: "paid", isError: false, messageId: "r" });
    expect(one.scrollback.slice(-3)).toEqual([
      '✓ pay {"to":"bob"}',
      "  ├ allowed by pk_12, from now on in this conversation",
      "  └ paid",
    ]);
  });

  it("keeps calls of two steps apart that have the same id", () => {
    const chunk = (call: object, content: string) => [
      { type: "tool-call" as const, toolCallId: "1", toolName: "count", input: {}, ...call },
      { type: "tool-result" as const, toolCallId: "1", toolName: "count", content, isError: false },
    ];
    const history = [0, 1].flatMap((step) =>
      chunk({}, `result ${step}`).map(
        (each, index): StoredChunk => ({
          ...row(2 * step + index + 1, ""),
          role: index === 0 ? "assistant" : "tool",
          stepId: `t#${step}` as StepId,
          messageId: `m${step}.${index}`,
          chunk: each as StoredChunk["chunk"],
        }),
      ),
    );
    const one = follow(history);
    one.look();
    expect(one.scrollback.filter((line) => line.includes("└"))).toEqual(["  └ result 0", "  └ result 1"]);
  });

  it("shows a tool that works with what it prints, and its card when it is done", () => {
    const one = follow();
    one.add(asked("Work!"));
    one.add({
      type: "tool-call",
      stepId,
      toolCallId: "1",
      toolName: "slow",
      input: {},
      argumentsText: '{"steps":2}',
      messageId: "a",
      partIndex: 0,
    });
    one.add({ type: "tool-output", toolCallId: "1", stepId, data: "step 1\nstep 2\n", stream: "stdout" });
    const { live, isMoving } = one.wait(1_500);
    expect(isMoving).toBe(true);
    expect(live.join("\n")).toMatch(/slow \{"steps":2\} 1\.5 s\n {2}│ step 1\n {2}│ step 2/);
    one.add({
      type: "tool-result",
      toolCallId: "1",
      stepId,
      toolName: "slow",
      content: "finished",
      isError: false,
      durationMs: 2_000,
      messageId: "r",
    });
    expect(one.scrollback.slice(-2)).toEqual(['✓ slow {"steps":2} 2.0 s', "  └ finished"]);
  });

  it("keeps the order of parallel tools, whichever is done first", () => {
    const one = follow();
    one.add(asked("Work!"));
    for (const id of ["1", "2"]) {
      one.add({
        type: "tool-call",
        stepId,
        toolCallId: id,
        toolName: `tool${id}`,
        input: {},
        argumentsText: "{}",
        messageId: "a",
        partIndex: Number(id) - 1,
      });
    }
    const result = (id: string) =>
      one.add({
        type: "tool-result",
        toolCallId: id,
        stepId,
        toolName: `tool${id}`,
        content: "ok",
        isError: false,
        messageId: `r${id}`,
      });
    expect(result("2").live.join("\n")).toContain("✓ tool2");
    expect(one.scrollback).toEqual(["› Work!"]);
    result("1");
    expect(one.scrollback.filter((line) => line.includes("tool"))).toEqual(["✓ tool1", "✓ tool2"]);
  });

  it("prints what was committed only once, though it comes again as chunks", () => {
    const one = follow();
    one.add(asked("Hello?"));
    one.add(said("All of it.\n\nAnd more."));
    one.commit([user(1, "Hello?"), row(2, "All of it.\n\nAnd more.")]);
    expect(one.scrollback.filter((line) => line.includes("All of it"))).toHaveLength(1);
    expect(one.scrollback.filter((line) => line.includes("And more"))).toHaveLength(1);
  });

  it("says so when a crash has cost the end of what it had printed", () => {
    const one = follow();
    one.add(asked("Hello?"));
    one.add(said("First piece.\n\nSecond piece.\n\nThird"));
    one.reset();
    one.commit([user(1, "Hello?"), row(2, "First piece.\n\nSec")]);
    expect(one.scrollback.filter((line) => line.includes("First piece"))).toHaveLength(1);
    expect(one.scrollback.at(-1)).toBe("↺ the last 10 characters above were lost with the server");
  });

  it("says nothing when a crash has cost only what was not printed yet", () => {
    const one = follow();
    one.add(asked("Hello?"));
    one.add(said("First piece.\n\nSecond pie"));
    one.commit([user(1, "Hello?"), row(2, "First piece.\n\nSecond")]);
    expect(one.scrollback).toEqual(["› Hello?", "", "First piece.", "", "Second"]);
  });

  it("says once what a turn failed with, whether its entry or its end comes first", () => {
    const message = "Too much to do.";
    const failed = row(2, "", {
      chunk: { type: "error", code: "provider_overloaded", message },
      messageId: "e",
    });
    const end = { type: "turn-sealed" as const, firstSeq: 1, lastSeq: 2, reason: "error" as const };
    const expected = ["✗ provider_overloaded: Too much to do."];
    const errors = (lines: readonly string[]) => lines.filter((line) => line.startsWith("✗"));

    const shown = follow([user(1, "Hello?"), failed]);
    shown.look();
    expect(errors(shown.scrollback)).toEqual(expected);

    const live = follow();
    live.add(asked("Hello?"));
    live.add({ type: "error", code: "provider_overloaded", message });
    live.add(end);
    expect(errors(live.scrollback)).toEqual(expected);
    live.commit([user(1, "Hello?"), failed]);
    expect(errors(live.scrollback)).toEqual(expected);

    const late = follow();
    late.add(asked("Hello?"));
    late.commit([user(1, "Hello?"), failed]);
    late.add({ type: "error", code: "provider_overloaded", message });
    late.add(end);
    expect(errors(late.scrollback)).toEqual(expected);
    expect(late.scrollback.at(-1)).toBe("─ failed");
  });

  it("prints a turn whose question was known before it started", () => {
    const one = follow([user(1, "Hello?")]);
    one.look();
    one.add({ type: "turn-start", model: "m", startedAt: 0 });
    one.add(said("An answer."));
    one.add({ type: "done", reason: "aborted" });
    one.add({ type: "turn-sealed", firstSeq: 1, lastSeq: 2, reason: "aborted" });
    expect(one.scrollback.filter((line) => line !== "")).toEqual(["› Hello?", "An answer.", "─ stopped"]);
  });

  it("prints the rest of a turn whose beginning is skipped", () => {
    const one = follow([user(1, "Hello?"), row(2, "An answer.")]);
    one.view.skip(one.state, 1);
    one.look();
    expect(one.scrollback).toEqual(["An answer."]);
  });

  it("skips the history that was there before", () => {
    const one = follow([user(1, "Old"), row(2, "Older answer")]);
    one.view.skip(one.state);
    one.look();
    expect(one.scrollback).toEqual([]);
  });

  it("lets no tool and no model control the terminal", () => {
    const one = follow([user(1, "x\u001B[2J"), row(2, "y\u001B]0;t\u0007")]);
    one.look();
    expect(one.scrollback.join("")).not.toMatch(/[^\P{Control}\n]/u);
  });
});
