import type { ConversationState, MessageState, PartState, TurnState } from "@parley/client";
import type { Chunk, StepId } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { buildRows, gapsByRow, type Row, rowOfSeq } from "./rows.js";

let seq = 0;
function message(
  role: MessageState["role"],
  turnId: string | undefined,
  chunks: readonly Chunk[],
  more: Partial<MessageState> = {},
): MessageState {
  seq += 1;
  const id = `m${seq}`;
  const parts = chunks.map(
    (chunk, index): PartState => ({ key: `${id}.${index}`, index, chunk, streaming: false }),
  );
  return {
    id,
    role,
    parts,
    status: "committed",
    firstSeq: seq,
    lastSeq: seq,
    ...(turnId === undefined ? {} : { turnId }),
    ...more,
  };
}
const text = (value: string): Chunk => ({ type: "text", text: value });
const call = (id: string): Chunk => ({ type: "tool-call", toolCallId: id, toolName: "t", input: {} });
const result = (id: string): Chunk => ({
  type: "tool-result",
  toolCallId: id,
  toolName: "t",
  content: "ok",
  isError: false,
});

function turn(turnId: string, status: TurnState["status"]): TurnState {
  return { turnId, status, steps: [], toolOutput: {} };
}

function stateOf(messages: readonly MessageState[], turns: readonly TurnState[] = []): ConversationState {
  const running = turns.find((each) => each.status === "running");
  return {
    conversationId: "c",
    phase: "ready",
    status: running === undefined ? "idle" : "active",
    messages,
    turns: Object.fromEntries(turns.map((each) => [each.turnId, each])),
    ...(running === undefined ? {} : { activeTurn: { turnId: running.turnId } }),
    queue: { messages: [] },
    pending: [],
    responses: {},
    hasEarlier: false,
    loadingEarlier: false,
    gaps: [],
  };
}

it("puts the files that tools returned with the step that called them", () => {
  const file = (name: string): Chunk => ({
    type: "text",
    text: `[${name}]`,
    file: { name, mediaType: "image/png", size: 1, hash: name },
  });
  const rows = buildRows(
    stateOf([
      message("user", "t1", [text("Draw"), file("sketch")]),
      message("assistant", "t1", [call("a"), call("b")]),
      message("tool", "t1", [result("b"), file("second")]),
      message("tool", "t1", [result("a"), file("first")]),
      message("assistant", "t1", [text("Done")]),
    ]),
  );
  const files = rows.map((row) => (row.kind === "step" ? row.files.map(({ name }) => name) : []));
  expect(files).toEqual([[], ["first", "second"], [], []]);
});

const kinds = (rows: readonly Row[]) => rows.map((row) => row.kind).join(" ");

describe("buildRows", () => {
  it("shows question, answer and the end of a turn", () => {
    const rows = buildRows(
      stateOf(
        [message("user", "1", [text("hi")]), message("assistant", "1", [text("hello")])],
        [turn("1", "sealed")],
      ),
    );
    expect(kinds(rows)).toBe("user step end");
    expect(rows[2]).toMatchObject({ last: true, turnId: "1" });
  });

  it("does not treat a gap in what is loaded as the end of a turn, and finds the row after it", () => {
    const messages = [
      message("user", "1", [text("hi")], { firstSeq: 8, lastSeq: 8 }),
      message("assistant", "1", [call("a")], { firstSeq: 9, lastSeq: 9 }),
      message("assistant", "1", [text("done")], { firstSeq: 20, lastSeq: 20 }),
      message("user", "2", [text("hi again")], { firstSeq: 21, lastSeq: 21 }),
    ];
    const gaps = [
      { afterSeq: 0, beforeSeq: 8 },
      { afterSeq: 9, beforeSeq: 20 },
    ];
    const rows = buildRows({ ...stateOf(messages, [turn("1", "sealed")]), gaps });
    expect(kinds(rows)).toBe("user step step end user end");
    expect([...gapsByRow(rows, gaps)]).toEqual([[rows[2]?.key, gaps[1]]]);
  });

  it("folds results into the step that called, in the order of the calls", () => {
    const rows = buildRows(
      stateOf(
        [
          message("user", "1", [text("hi")]),
          message("assistant", "1", [text("wait"), call("a"), call("b")]),
          message("tool", "1", [result("b")]),
          message("tool", "1", [result("a")]),
          message("assistant", "1", [text("done")]),
        ],
        [turn("1", "sealed")],
      ),
    );
    expect(kinds(rows)).toBe("user step step end");
    const step = rows[1];
    expect(step?.kind === "step" && step.results.map((each) => each?.toolCallId)).toEqual(["a", "b"]);
    expect(rows[1]).toMatchObject({ first: true });
    expect(rows[2]).toMatchObject({ first: false });
  });

  it("distinguishes messages that steered from those that opened the turn", () => {
    const rows = buildRows(
      stateOf(
        [
          message("user", "1", [text("hi")]),
          message("assistant", "1", [call("a")]),
          message("tool", "1", [result("a")]),
          message("user", "1", [text("be brief")]),
          message("assistant", "1", [text("ok")]),
        ],
        [turn("1", "sealed")],
      ),
    );
    expect(kinds(rows)).toBe("user step user step end");
    expect(rows[0]).toMatchObject({ steered: false, opening: true });
    expect(rows[2]).toMatchObject({ steered: true, opening: false });
    const end = rows[4];
    expect(end?.kind === "end" && end.opening.length).toBe(1);
  });

  it("waits visibly until the running turn shows something, and between steps", () => {
    const user = message("user", "1", [text("hi")]);
    const running = [turn("1", "running")];
    expect(kinds(buildRows(stateOf([user], running)))).toBe("user waiting");
    const streaming = message("assistant", "1", [text("he")], { status: "streaming" });
    expect(kinds(buildRows(stateOf([user, streaming], running)))).toBe("user step");
    const called = message("assistant", "1", [call("a")]);
    const atWork = buildRows(stateOf([user, called], running));
    expect(kinds(atWork)).toBe("user step waiting");
    expect(atWork[2]).toMatchObject({ on: "tool" });
    const answered = message("tool", "1", [result("a")]);
    expect(kinds(buildRows(stateOf([user, called, answered], running)))).toBe("user step waiting");
    const waitsSince = (messages: MessageState[], startedAt: number) => {
      const row = buildRows(stateOf(messages, [{ ...turn("1", "running"), startedAt }])).at(-1);
      return row?.kind === "waiting" ? row.since : "not waiting";
    };
    expect(waitsSince([{ ...user, createdAt: 5 }], 7)).toBe(7);
    expect(waitsSince([user, called, { ...answered, createdAt: 30 }], 7)).toBe(30);
  });

  it("waits for a model that has stopped in the middle of its answer, and shows the server's reason", () => {
    const user = message("user", "1", [text("hi")]);
    const streaming = message("assistant", "1", [text("he")], { status: "streaming" });
    const running = turn("1", "running");
    const stalled = buildRows(stateOf([user, streaming], [running]), [], 40);
    expect(kinds(stalled)).toBe("user step waiting");
    expect(stalled[2]).toMatchObject({ on: "model", since: 40 });
    const progress = { activity: "compacting", since: 3 };
    const active = { turnId: "1", progress };
    const [, row] = buildRows({ ...stateOf([user], [running]), activeTurn: active });
    expect(row).toMatchObject({ kind: "waiting", on: "model", progress });
  });

  it("takes the start of tools from the time at which their step was written, also after a reload", () => {
    const stepId = "1.0" as StepId;
    const called = message("assistant", "1", [call("a")], { stepId, createdAt: 1_000 });
    const steps = [{ stepId, complete: true, genTotalMs: 250 }];
    const running = { ...turn("1", "running"), steps };
    const user = message("user", "1", [text("hi")]);
    const [, step, waiting] = buildRows(stateOf([user, called], [running]));
    expect(step).toMatchObject({ kind: "step", toolsSince: 1_250 });
    expect(waiting).toMatchObject({ on: "tool", since: 1_250 });
    const [, done] = buildRows(stateOf([user, called, message("tool", "1", [result("a")])], [running]));
    expect(done).toMatchObject({ toolsSince: undefined });
  });

  it("shows requests and decisions with their calls, and does not wait for the model meanwhile", () => {
    const stepId = "1.0" as StepId;
    const user = message("user", "1", [text("hi")]);
    const called = message("assistant", "1", [call("a"), call("b")], { stepId });
    const about = { toolCallId: "b", toolName: "t", requestId: "q" };
    const asked = message(
      "system",
      "1",
      [
        {
          type: "system",
          text: "",
          input: { type: "input-request", kind: "approval", argumentsHash: "0", ...about },
        },
      ],
      { stepId },
    );
    const answered = message("tool", "1", [result("a")], { stepId });
    const decided = message(
      "system",
      "1",
      [
        {
          type: "system",
          text: "",
          input: { type: "input-response", decision: "deny", via: "stop", ...about },
        },
      ],
      { stepId },
    );
    const running = [turn("1", "running")];
    const rows = buildRows(stateOf([user, called, asked, answered], running));
    expect(kinds(rows)).toBe("user step waiting");
    expect(rows[2]).toMatchObject({ on: "person" });
    expect(rows[1]).toMatchObject({ inputs: [undefined, [{ request: { requestId: "q" } }]] });
    const denied = [user, called, asked, answered, decided, message("tool", "1", [result("b")], { stepId })];
    const later = buildRows(stateOf(denied, running), rows);
    expect(kinds(later)).toBe("user step waiting");
    expect(later[1]).toMatchObject({ inputs: [undefined, [{ response: { decision: "deny" } }]] });
    expect(buildRows(stateOf(denied, running), later)).toBe(later);
  });

  it("does not end a turn while its message is being sent", () => {
    const sending = message("user", undefined, [text("hi")], { status: "sending" });
    expect(kinds(buildRows(stateOf([sending])))).toBe("user");
  });

  it("keeps a failed message apart from the turn before it", () => {
    const rows = buildRows(
      stateOf([
        message("user", undefined, [text("a")]),
        message("assistant", undefined, [text("b")]),
        message("user", undefined, [text("c")], { status: "failed" }),
      ]),
    );
    expect(kinds(rows)).toBe("user step end user");
  });

  it("shows a compaction's summary with the range that it covers, and other system messages as notes", () => {
    const rows = buildRows(
      stateOf([
        message("system", undefined, [{ type: "system", text: "sum", covers: { firstSeq: 1, lastSeq: 9 } }]),
        message("system", undefined, [{ type: "system", text: "undone" }]),
      ]),
    );
    expect(kinds(rows)).toBe("summary note");
  });

  it("starts a turn with each user message if no turns are named", () => {
    const rows = buildRows(
      stateOf([
        message("user", undefined, [text("a")]),
        message("assistant", undefined, [text("b")]),
        message("user", undefined, [text("c")]),
        message("assistant", undefined, [text("d")]),
      ]),
    );
    expect(kinds(rows)).toBe("user step end user step end");
  });

  it("shows a result whose call is not loaded by itself", () => {
    const rows = buildRows(stateOf([message("tool", "1", [result("a")])], [turn("1", "sealed")]));
    expect(kinds(rows)).toBe("step end");
  });

  it("shows a failure at the end of its turn only", () => {
    const failure = message("assistant", "1", [{ type: "error", message: "no", code: "timeout" }]);
    const rows = buildRows(stateOf([message("user", "1", [text("hi")]), failure], [turn("1", "sealed")]));
    expect(kinds(rows)).toBe("user end");
    expect(rows[1]).toMatchObject({ answer: [failure] });
  });

  it("keeps the rows that did not change, and the whole list when none did", () => {
    const old = [
      message("user", "1", [text("hi")]),
      message("assistant", "1", [call("a")]),
      message("tool", "1", [result("a")]),
    ];
    const user = message("user", "2", [text("more")]);
    const turns = [turn("1", "sealed"), turn("2", "running")];
    const grow = (value: string) =>
      stateOf(
        [...old, user, message("assistant", "2", [text(value)], { id: "grows", status: "streaming" })],
        turns,
      );
    const before = buildRows(grow("a"));
    const after = buildRows(grow("ab"), before);
    expect(after.slice(0, -1).every((row, index) => row === before[index])).toBe(true);
    expect(after.at(-1)).not.toBe(before.at(-1));
    const state = grow("abc");
    const once = buildRows(state, after);
    expect(buildRows(state, once)).toBe(once);
  });
});

it("finds the row of a place in the log", () => {
  seq = 0;
  const rows = buildRows(
    stateOf(
      [
        message("user", "1", [text("hi")]),
        message("assistant", "1", [text("a")], { firstSeq: 2, lastSeq: 4 }),
        message("user", "2", [text("x")], { firstSeq: 5, lastSeq: 5 }),
      ],
      [turn("1", "sealed"), turn("2", "sealed")],
    ),
  );
  expect(rows[rowOfSeq(rows, 3)]).toMatchObject({ kind: "step" });
  expect(rows[rowOfSeq(rows, 5)]).toMatchObject({ kind: "user", message: { firstSeq: 5 } });
  expect(rowOfSeq(rows, 0)).toBe(-1);
});
