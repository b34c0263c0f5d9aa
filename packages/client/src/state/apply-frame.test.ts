import type { StepId } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { applyFrame } from "./apply-frame.js";
import { applyHistory, applyMeta, applyMetrics, applyQueue } from "./apply-history.js";
import { applyPending } from "./apply-send.js";
import { foldOf, initialState } from "./fold.js";
import {
  conversationId,
  fold,
  plain,
  published,
  row,
  rows,
  script,
  snapshot,
  stepId,
  text,
  turnId,
} from "./frames.test-support.js";

const opening = [
  snapshot("0"),
  plain(0, { type: "status", status: "active" }),
  rows("1~t1~1~-1", row(1, "u1", "user", "What is the time?", { createdAt: 5 })),
  published(0, { type: "user-message", text: "What is the time?", messageId: "u1", createdAt: 5 }),
  published(1, { type: "turn-start", model: "demo/one", startedAt: 7 }),
];

const call = published(4, {
  type: "tool-call",
  stepId,
  toolCallId: "k1",
  toolName: "clock",
  input: { zone: "UTC" },
  argumentsText: '{"zone":"UTC"}',
  messageId: "a1",
  partIndex: 1,
});

describe("a turn as it is published", () => {
  it("begins with the prompt, and is the one that runs", () => {
    const state = fold(opening);
    expect(script(state)).toEqual(["user (committed): What is the time?"]);
    expect(state.status).toBe("active");
    expect(state.activeTurn).toEqual({ turnId, model: "demo/one", startedAt: 7 });
    expect(state.turns[turnId]).toMatchObject({
      status: "running",
      firstSeq: 1,
      lastSeq: 1,
      model: "demo/one",
    });
  });

  it("grows text and reasoning part by part", () => {
    const state = fold([
      ...opening,
      published(2, { type: "reasoning-delta", delta: "Hm", stepId, messageId: "a1", partIndex: 0 }),
      published(3, { type: "reasoning-delta", delta: "m.", stepId, messageId: "a1", partIndex: 0 }),
      text(4, "It is", { partIndex: 1 }),
      text(5, " noon.", { partIndex: 1 }),
    ]);
    const parts = state.messages.at(-1)?.parts;
    expect(parts).toEqual([
      { key: "a1/0", index: 0, chunk: { type: "thinking", text: "Hmm." }, streaming: false },
      { key: "a1/1", index: 1, chunk: { type: "text", text: "It is noon." }, streaming: true },
    ]);
    expect(state.messages.at(-1)).toMatchObject({
      id: "a1",
      role: "assistant",
      turnId,
      stepId,
      status: "streaming",
    });
  });

  it("keeps parts that interleave apart, in their order", () => {
    const state = fold([
      ...opening,
      text(2, "b", { partIndex: 1 }),
      text(3, "a", { partIndex: 0 }),
      text(4, "b", { partIndex: 1 }),
    ]);
    expect(script(state).at(-1)).toBe("assistant (streaming): a | bb");
  });

  it("does not add what it has received", () => {
    const once = fold([...opening, text(2, "It "), text(3, "is")]);
    expect(fold([text(3, "is"), text(2, "It ")], once)).toBe(once);
  });

  it("ignores events of an epoch that is over", () => {
    const late = published(
      9,
      { type: "text-delta", delta: "old", stepId, messageId: "a1", partIndex: 0 },
      { epoch: 1 },
    );
    const state = fold([
      ...opening,
      published(2, { type: "text-delta", delta: "new", stepId, messageId: "a1", partIndex: 0 }, { epoch: 2 }),
      late,
    ]);
    expect(script(state).at(-1)).toBe("assistant (streaming): new");
  });

  it("ignores a delta that brings nothing to show", () => {
    const before = fold(opening);
    const empty = published(2, { type: "reasoning-delta", delta: "", stepId, messageId: "a1", partIndex: 0 });
    expect(fold([empty], before).messages).toBe(before.messages);
  });

  it("shows calls, what tools print, and results", () => {
    const state = fold([
      ...opening,
      text(2, "Let me see."),
      call,
      published(5, { type: "step-complete", stepId, ttftMs: 3, decodeMs: 4, genTotalMs: 7 }),
      published(6, { type: "tool-output", toolCallId: "k1", data: "tick ", stream: "stdout", stepId }),
      published(7, { type: "tool-output", toolCallId: "k1", data: "tock", stream: "stderr", stepId }),
      published(7, { type: "tool-output", toolCallId: "k1", data: "tock", stream: "stderr", stepId }),
      published(8, {
        type: "tool-result",
        stepId,
        toolCallId: "k1",
        toolName: "clock",
        content: "noon",
        isError: false,
        durationMs: 4,
        messageId: "r1",
      }),
    ]);
    expect(script(state)).toEqual([
      "user (committed): What is the time?",
      "assistant (streaming): Let me see. | clock()",
      "tool (streaming): -> noon",
    ]);
    expect(state.turns[turnId]?.toolOutput).toEqual({ k1: "tick tock" });
    expect(state.messages[1]?.parts.map(({ streaming }) => streaming)).toEqual([false, false]);
  });

  it("keeps a part growing until another follows or its step is complete", () => {
    const grows = (...frames: Parameters<typeof fold>[0]) =>
      fold([...opening, text(2, "It is"), ...frames])
        .messages.at(-1)
        ?.parts.map(({ streaming }) => streaming);
    expect(grows()).toEqual([true]);
    expect(grows(text(3, "noon", { partIndex: 1 }))).toEqual([false, true]);
    expect(grows(published(3, { type: "step-complete", stepId }))).toEqual([false]);
    expect(grows(published(3, { type: "done", reason: "aborted" }))).toEqual([false]);
  });

  it("shows the figures of a step as the metrics will", () => {
    const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 2 };
    const timing = { ttftMs: 3, decodeMs: 4, genTotalMs: 7 };
    const steps = [{ stepId, usage, ...timing }];
    const live = fold([
      ...opening,
      text(2, "Noon."),
      published(3, { type: "usage", stepId, usage }),
      published(4, { type: "step-complete", stepId, ...timing }),
      published(5, { type: "done", reason: "stop", durationMs: 20, usage, contextSize: 15 }),
      rows("2~t1~1~5", row(2, "a1", "assistant", "Noon.")),
      plain(2, { type: "turn-sealed", firstSeq: 1, lastSeq: 2, reason: "stop" }),
    ]);
    const metrics = {
      turnId,
      usage,
      durationMs: 20,
      contextSize: 15,
      reason: "stop",
      model: "demo/one",
      steps,
    };
    expect(live.turns).toEqual(applyMetrics(live, [metrics]).turns);
    expect(live.contextSize).toBe(15);
  });

  it("shows usage that was not reported as unknown", () => {
    const live = fold([
      ...opening,
      published(2, { type: "usage", stepId, usage: { inputTokens: 0, outputTokens: 0 } }),
      published(3, { type: "step-complete", stepId }),
      published(4, { type: "done", reason: "stop" }),
      plain(1, { type: "turn-sealed", firstSeq: 1, lastSeq: 1, reason: "stop" }),
    ]);
    const usage = { inputTokens: 0, outputTokens: 0 };
    const withMetrics = applyMetrics(live, [{ turnId, usage, reason: "stop", steps: [{ stepId, usage }] }]);
    for (const state of [live, withMetrics]) {
      expect(state.contextSize).toBeUndefined();
      expect(state.turns[turnId]).not.toHaveProperty("usage");
      expect(state.turns[turnId]?.steps).toEqual([{ stepId, complete: true }]);
    }
  });

  it("puts steering messages in as messages of the user, and out of the queue", () => {
    const queued = applyQueue(fold(opening), { messages: [{ id: "s1", text: "In Lisbon.", queuedAt: 1 }] });
    expect(queued.queue.messages).toHaveLength(1);
    const steering = published(2, {
      type: "steering",
      text: "In Lisbon.",
      messageIds: ["s1"],
      messages: [{ messageId: "s1", text: "In Lisbon." }],
      createdAt: 9,
    });
    const state = fold([steering], queued);
    expect(script(state).at(-1)).toBe("user (streaming): In Lisbon.");
    expect(state.queue.messages).toEqual([]);
    // A queue that was published late does not bring it back.
    expect(applyQueue(state, queued.queue).queue.messages).toEqual([]);
  });

  it("shows each of several prompts that open a turn together", () => {
    const state = fold([
      published(0, {
        type: "user-message",
        text: "One\n\nTwo",
        messageId: "u1",
        messages: [
          { messageId: "u1", text: "One" },
          { messageId: "u2", text: "Two" },
        ],
      }),
    ]);
    expect(state.messages.map(({ id }) => id)).toEqual(["u1", "u2"]);
  });

  it("says how a turn failed, at once and from the log alike", () => {
    const failed = [
      published(2, { type: "error", code: "rate_limited", message: "Too fast", retryable: true }),
      published(3, { type: "done", reason: "error", durationMs: 4 }),
    ];
    const live = fold([...opening, ...failed]);
    expect(live.turns[turnId]).toMatchObject({
      status: "running",
      reason: "error",
      error: { code: "rate_limited", message: "Too fast", retryable: true },
    });
    const chunk = { type: "error" as const, code: "rate_limited" as const, message: "Too fast" };
    const loaded = applyHistory(initialState(conversationId), {
      chunks: [row(1, "u1", "user", "What is the time?"), row(2, "e1", "assistant", chunk)],
      latestSeq: 2,
    });
    expect(loaded.turns[turnId]?.error).toEqual(live.turns[turnId]?.error);
  });

  it.each(["aborted", "interrupted", "length"] as const)("marks a turn that ended as %s", (reason) => {
    const state = fold([
      ...opening,
      text(2, "It is"),
      published(3, { type: "done", reason, durationMs: 4 }),
      rows("2~t1~1~3", row(2, "a1", "assistant", "It is")),
      plain(2, { type: "turn-sealed", firstSeq: 1, lastSeq: 2, reason }),
      plain(2, { type: "status", status: "idle" }),
    ]);
    expect(state.turns[turnId]).toMatchObject({ status: "sealed", reason, firstSeq: 1, lastSeq: 2 });
    expect(state.activeTurn).toBeUndefined();
    expect(state.status).toBe("idle");
    expect(script(state).at(-1)).toBe("assistant (committed): It is");
  });

  it("ignores kinds of events that it does not know", () => {
    const before = fold(opening);
    const unknown = { type: "tool-approval", toolCallId: "k1" } as never;
    expect(fold([published(2, unknown)], before).messages).toBe(before.messages);
  });
});

describe("committed rows", () => {
  it("replace what was provisional of the same message, under the same keys", () => {
    const provisional = fold([...opening, text(2, "It is noo")]);
    const state = fold([rows("2~t1~1~3", row(2, "a1", "assistant", "It is noon."))], provisional);
    expect(state.messages.map(({ status }) => status)).toEqual(["committed", "committed"]);
    expect(state.messages[1]?.parts).toEqual([
      { key: "a1/0", index: 0, chunk: { type: "text", text: "It is noon." }, streaming: false, seq: 2 },
    ]);
    expect(provisional.messages[1]?.parts[0]?.key).toBe("a1/0");
    // Later events of it add nothing.
    expect(fold([text(9, "!")], state).messages).toBe(state.messages);
  });

  it("end what their tools have printed, and say how long they took", () => {
    const state = fold([
      ...opening,
      call,
      published(5, { type: "step-complete", stepId }),
      rows(
        "2~t1~1~5",
        row(2, "a1", "assistant", { type: "tool-call", toolCallId: "k1", toolName: "clock", input: {} }),
      ),
      published(
        6,
        { type: "tool-output", toolCallId: "k1", data: "tick", stream: "stdout", stepId },
        { seq: 2 },
      ),
      rows(
        "3~t1~1~7",
        row(3, "r1", "tool", {
          type: "tool-result",
          toolCallId: "k1",
          toolName: "clock",
          content: "noon",
          isError: false,
          durationMs: 4,
        }),
      ),
      published(
        6,
        { type: "tool-output", toolCallId: "k1", data: "tick", stream: "stdout", stepId },
        { seq: 2 },
      ),
    ]);
    expect(state.turns[turnId]?.toolOutput).toEqual({});
    expect(state.turns[turnId]?.steps).toEqual([
      {
        stepId,
        complete: true,
        tools: [{ toolCallId: "k1", toolName: "clock", isError: false, durationMs: 4 }],
      },
    ]);
  });

  it("show a summary with what it covers", () => {
    const chunk = { type: "system" as const, text: "So far: noon.", covers: { firstSeq: 1, lastSeq: 2 } };
    const { turnId: _, ...summary } = row(3, "s", "system", chunk);
    const state = fold([rows("3", row(1, "u1", "user", "Hi"), row(2, "a1", "assistant", "Noon"), summary)]);
    expect(state.messages.at(-1)?.parts[0]?.chunk).toEqual(chunk);
    expect(state.messages.at(-1)?.turnId).toBeUndefined();
  });

  it("come once, however often they are sent", () => {
    const state = fold([...opening, rows("2~t1~1~3", row(2, "a1", "assistant", "Noon."))]);
    expect(fold([rows("2~t1~1~3", row(2, "a1", "assistant", "Noon."))], state)).toBe(state);
  });

  it("of one message that come in several pages are one message", () => {
    const part = (seq: number) =>
      row(seq, "a1", "assistant", `part ${seq}`, { partIndex: seq - 2, partCount: 4 });
    const whole = fold([rows("5", row(1, "u1", "user", "Hi"), part(2), part(3), part(4), part(5))]);
    const late = applyHistory(
      applyHistory(fold([rows("5", part(5))]), { chunks: [part(3), part(4)], latestSeq: 4 }),
      { chunks: [row(1, "u1", "user", "Hi"), part(2), part(3)], latestSeq: 3 },
    );
    expect(late.messages).toEqual(whole.messages);
    expect(late.messages.map(({ firstSeq, lastSeq }) => [firstSeq, lastSeq])).toEqual([
      [1, 1],
      [2, 5],
    ]);
  });

  it("without message ids are one message while the role stays the same", () => {
    const bare = (seq: number, role: "user" | "assistant", partIndex?: number) => ({
      seq,
      role,
      chunk: { type: "text" as const, text: String(seq) },
      ...(partIndex === undefined ? {} : { partIndex }),
    });
    const state = fold([
      rows("4", bare(1, "user"), bare(2, "assistant"), bare(3, "assistant"), bare(4, "assistant", 0)),
    ]);
    expect(script(state)).toEqual([
      "user (committed): 1",
      "assistant (committed): 2 | 3",
      "assistant (committed): 4",
    ]);
  });

  it("tell whether there is more before them", () => {
    const newest = applyHistory(initialState(conversationId), {
      chunks: [row(7, "a1", "assistant", "x")],
      latestSeq: 7,
    });
    expect(newest).toMatchObject({ phase: "ready", oldestSeq: 7, hasEarlier: true });
    const all = applyHistory(newest, {
      chunks: [1, 2, 3, 4, 5, 6].map((seq) => row(seq, `m${seq}`, "user", "x")),
      latestSeq: 6,
    });
    expect(all).toMatchObject({ oldestSeq: 1, hasEarlier: false });
    expect(applyHistory(initialState(conversationId), { chunks: [], latestSeq: 0 })).toMatchObject({
      phase: "ready",
      hasEarlier: false,
    });
  });

  it("that come late put the steps of their turn in order", () => {
    const step = (index: number) => ({ stepId: `t1.${index}` as StepId });
    const late = [row(2, "a0", "assistant", "zero", step(0)), row(3, "a1", "assistant", "one", step(1))];
    const state = applyHistory(fold([rows("4", row(4, "a2", "assistant", "two", step(2)))]), {
      chunks: late,
      latestSeq: 3,
    });
    expect(state.turns[turnId]?.steps.map((each) => each.stepId)).toEqual(["t1.0", "t1.1", "t1.2"]);
  });

  it("that come late are put before a step that was published and has none, and their tools in order", () => {
    const result = (seq: number, toolCallId: string) =>
      row(seq, `r-${toolCallId}`, "tool", {
        type: "tool-result",
        toolCallId,
        toolName: "clock",
        content: "noon",
        isError: false,
      });
    const next = published(9, { type: "step-complete", stepId: "t1.1" as StepId }, { seq: 4 });
    const joined = fold([...opening, next, rows("4~t1~1~9", result(4, "k2"))]);
    const state = applyHistory(joined, {
      chunks: [row(2, "a1", "assistant", "Looking"), result(3, "k1")],
      latestSeq: 4,
    });
    expect(state.turns[turnId]?.steps.map((each) => each.stepId)).toEqual(["t1.0", "t1.1"]);
    expect(state.turns[turnId]?.steps[0]?.tools?.map((tool) => tool.toolCallId)).toEqual(["k1", "k2"]);
  });
});

describe("a resumed subscription", () => {
  it("takes status, queue and gauge from the snapshot", () => {
    const queue = { messages: [{ id: "q1", text: "Later", queuedAt: 3 }], paused: true };
    const state = fold([snapshot("0", { queue, contextSize: 12, contextWindow: 100 })]);
    expect(state).toMatchObject({ status: "idle", queue, contextSize: 12, contextWindow: 100 });
    const unknown = fold([snapshot("0")], state);
    expect(unknown).not.toHaveProperty("contextSize");
    expect(unknown).not.toHaveProperty("contextWindow");
  });

  it("forgets what is provisional of a turn that is reset, and keeps its rows", () => {
    const state = fold([
      ...opening,
      text(2, "It is"),
      published(3, { type: "usage", stepId, usage: { inputTokens: 1, outputTokens: 1 } }),
      published(4, { type: "done", reason: "stop", durationMs: 4, contextSize: 2 }),
      { type: "chat.reset", conversationId, turnId, cursor: "1" as never },
    ]);
    expect(script(state)).toEqual(["user (committed): What is the time?"]);
    expect(state.turns[turnId]).toEqual({
      turnId,
      status: "running",
      model: "demo/one",
      startedAt: 7,
      firstSeq: 1,
      lastSeq: 1,
      steps: [],
      toolOutput: {},
    });
    expect(state.cursor).toBe("1");
  });

  it("forgets everything but what is on its way when the whole conversation is reset", () => {
    const before = applyPending(fold([...opening, text(2, "It is")]), {
      id: "m9",
      text: "More",
      ifBusy: "reject",
      status: "sending",
    });
    const activeTurn = { turnId: "t2", startedAt: 50 };
    const state = fold(
      [snapshot("0", { activeTurn }), { type: "chat.reset", conversationId, cursor: "0" as never }],
      before,
    );
    expect(script(state)).toEqual(["user (sending): More"]);
    expect(Object.keys(state.turns)).toEqual(["t2"]);
    expect(state).toMatchObject({ cursor: "0", status: "active", activeTurn, hasEarlier: false });
    // Later frames are folded as by a new client.
    const after = fold([rows("1.abc", row(1, "u7", "user", "Another", { turnId: "t2" }))], state);
    expect(script(after)).toEqual(["user (committed): Another", "user (sending): More"]);
    expect(after.cursor).toBe("1.abc");
    // A cursor's check does not identify what comes before or after.
    expect(fold([snapshot("0.abc.1")], after).cursor).toBe("1.abc");
  });

  it("ends the turn that is no longer the running one, and learns how from what follows", () => {
    const away = fold(
      [snapshot("1~t1~1~2", { activeTurn: { turnId: "t2", startedAt: 50 } })],
      fold([...opening, text(2, "It")]),
    );
    expect(away.turns[turnId]).toMatchObject({ status: "sealed" });
    expect(away.turns[turnId]).not.toHaveProperty("reason");
    expect(away.activeTurn).toEqual({ turnId: "t2", startedAt: 50 });
    const state = fold(
      [
        rows("3", row(2, "a1", "assistant", "It is noon."), row(3, "u2", "user", "Thanks", { turnId: "t2" })),
        plain(2, { type: "done", reason: "stop", durationMs: 9, contextSize: 3 }),
        plain(2, { type: "turn-sealed", firstSeq: 1, lastSeq: 2, reason: "stop" }),
      ],
      away,
    );
    expect(state.turns[turnId]).toMatchObject({
      status: "sealed",
      reason: "stop",
      durationMs: 9,
      firstSeq: 1,
      lastSeq: 2,
    });
    // The end of an earlier turn does not affect the current context.
    expect(state.contextSize).toBeUndefined();
    expect(state.activeTurn?.turnId).toBe("t2");
    expect(state.cursor).toBe("3");
  });

  it("never goes back to an earlier cursor, except by a reset", () => {
    const state = fold([...opening, text(6, "It")]);
    expect(state.cursor).toBe("1~t1~1~6");
    expect(fold([text(4, "x"), plain(0, { type: "status", status: "active" })], state).cursor).toBe(
      "1~t1~1~6",
    );
  });

  it("receives a turn in the middle, from a page of history that came first", () => {
    const page = applyHistory(initialState(conversationId), {
      chunks: [row(1, "u1", "user", "What is the time?", { createdAt: 5 })],
      latestSeq: 1,
    });
    const state = fold(
      [snapshot("0", { activeTurn: { turnId, startedAt: 7, model: "demo/one" } }), ...opening.slice(2)],
      page,
    );
    expect(state.turns[turnId]).toEqual(fold(opening).turns[turnId]);
    expect(state.activeTurn).toEqual({ turnId, model: "demo/one", startedAt: 7 });
  });
});

describe("metadata", () => {
  const { meta } = snapshot("0");

  it("closes and reopens a conversation in which nothing runs", () => {
    const closed = applyMeta(fold([snapshot("0")]), { ...meta, status: "closed" });
    expect(closed).toMatchObject({ status: "closed", meta: { status: "closed" } });
    const reopened = applyMeta(closed, { ...meta, title: "Again" });
    expect(reopened).toMatchObject({ status: "idle", meta: { status: "idle", title: "Again" } });
    // The subscription reports that a turn has started.
    expect(applyMeta(closed, { ...meta, status: "active" }).status).toBe("idle");
  });

  it.each([
    ["idle", fold([snapshot("0")]), "active"],
    ["active", fold(opening), "idle"],
    ["active", fold(opening), "closed"],
    ["active", fold(opening.slice(0, 2)), "closed"],
  ] as const)("leaves what is %s to the subscription", (status, state, reported) => {
    expect(applyMeta(state, { ...meta, status: reported })).toMatchObject({ status, meta: { status } });
  });
});

describe("what does not change", () => {
  it("keeps its identity", () => {
    const before = fold([...opening, text(2, "It ")]);
    const after = applyFrame(before, text(3, "is"));
    expect(after.messages[0]).toBe(before.messages[0]);
    expect(after.turns).toBe(before.turns);
    expect(after.queue).toBe(before.queue);
    expect(after.messages[1]).not.toBe(before.messages[1]);
    expect(applyFrame(after, plain(1, { type: "status", status: "active" })).messages).toBe(after.messages);
  });

  it("is not touched by a delta, however much there is of it", () => {
    const chunks = Array.from({ length: 10_000 }, (_, index) =>
      row(index + 1, `m${index}`, "user", "x", { turnId: `old${index}` }),
    );
    const loaded = applyHistory(initialState(conversationId), { chunks, latestSeq: 10_000 });
    const begun = fold(
      [published(0, { type: "user-message", text: "Hi", messageId: "u" }), text(1, "a")],
      loaded,
    );
    const grown = fold([text(2, "b"), text(3, "c")], begun);
    expect(foldOf(grown).conversation.log.committed).toBe(foldOf(loaded).conversation.log.committed);
    expect(foldOf(grown).conversation.turns).toBe(foldOf(begun).conversation.turns);
    const printing = published(4, { type: "tool-output", toolCallId: "k", data: "x", stream: "stdout" });
    expect(foldOf(fold([printing], grown)).conversation.turns.settled).toBe(
      foldOf(loaded).conversation.turns.settled,
    );
    expect(grown.messages).toHaveLength(10_002);
  });

  it("survives a copy of the state, and being kept as JSON", () => {
    const state = fold([...opening, text(2, "It ")]);
    const more = text(3, "is");
    const plainly = (of: typeof state) => JSON.parse(JSON.stringify(of));
    expect(plainly(applyFrame({ ...state }, more))).toEqual(plainly(applyFrame(state, more)));
    expect(plainly(applyFrame(plainly(state), more))).toEqual(plainly(applyFrame(state, more)));
  });
});
