import type { SubscriptionFrame } from "@parley/core/runtime";
import type { StoredChunk, TurnDetail } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { ClientRecord } from "./client-record.js";
import { Random } from "./random.js";
import { type LogReader, verifyConversation } from "./verify.js";

const conversationId = "c";

/** Returns a healthy log of one turn with one call. */
function healthyLog(): StoredChunk[] {
  const place = { turnId: "t1", createdAt: 1, partCount: 1, partIndex: 0 };
  const call = { toolCallId: "m1.0.0", toolName: "once" };
  return [
    { seq: 1, role: "user", chunk: { type: "text", text: "do fail m1" }, messageId: "m1", ...place },
    {
      seq: 2,
      role: "assistant",
      chunk: { type: "tool-call", ...call, input: {} },
      messageId: "a1",
      ...place,
    },
    {
      seq: 3,
      role: "tool",
      chunk: { type: "tool-result", ...call, content: "once answers m1.0.0", isError: false },
      messageId: "r1",
      ...place,
    },
    { seq: 4, role: "assistant", chunk: { type: "text", text: "one two" }, messageId: "a2", ...place },
  ];
}

/** Returns a node that has exactly these chunks. */
function nodeWith(
  chunks: readonly StoredChunk[],
  more: { reason?: string; waiting?: string[] } = {},
): LogReader {
  const { reason = "stop", waiting = [] } = more;
  return {
    history: async () => chunks,
    meta: async () =>
      ({ queue: { messages: waiting.map((id) => ({ id, text: "do fail m1", queuedAt: 1 })) } }) as never,
    turn: async () => ({ status: "sealed", reason, metrics: { reason } }) as TurnDetail,
    openTurn: async () => null,
    resume: async (_, cursor) => {
      const seq = Number(cursor.split("~")[0]);
      const missing = chunks.slice(seq);
      if (missing.length === 0) return [];
      return [
        { type: "chat.chunks", conversationId, chunks: missing, cursor: String(chunks.length) as never },
      ];
    },
  };
}

/** Returns the record of a client that received all of it. */
function fullRecord(): ClientRecord {
  const record = new ClientRecord();
  const receipt = {
    conversationId,
    messageId: "m1",
    outcome: "started",
    turnId: "t1",
    repeated: false,
  } as const;
  record.sent.set("m1", { conversationId, messageId: "m1", text: "do fail m1", receipt });
  const viewer = record.view(conversationId);
  const ids = { conversationId, turnId: "t1" };
  const chunks = healthyLog();
  const frames: unknown[] = [
    { type: "chat.chunks", conversationId, chunks: chunks.slice(0, 2), cursor: "2~t1~1~0" },
    {
      type: "chat.delta",
      cursor: "2~t1~1~1",
      event: {
        type: "tool-result",
        ...ids,
        toolCallId: "m1.0.0",
        toolName: "once",
        content: "once answers m1.0.0",
        isError: false,
        messageId: "r1",
      },
    },
    { type: "chat.chunks", conversationId, chunks: chunks.slice(2, 3), cursor: "3~t1~1~1" },
    {
      type: "chat.delta",
      cursor: "3~t1~1~2",
      event: { type: "text-delta", ...ids, messageId: "a2", partIndex: 0, delta: "one " },
    },
    { type: "chat.chunks", conversationId, chunks: chunks.slice(3), cursor: "4~t1~1~2" },
    {
      type: "chat.delta",
      cursor: "4",
      event: { type: "turn-sealed", ...ids, firstSeq: 1, lastSeq: 4, reason: "stop" },
    },
  ];
  for (const frame of frames) record.take(viewer, frame as SubscriptionFrame);
  record.report({ type: "tool", phase: "start", name: "once", conversationId, toolCallId: "m1.0.0" });
  return record;
}

/** Returns the healthy log with a change. */
function logWith(change: (chunks: StoredChunk[]) => void): StoredChunk[] {
  const chunks = healthyLog();
  change(chunks);
  return chunks;
}

const verify = (record: ClientRecord, node: LogReader) =>
  verifyConversation(record, node, conversationId, new Random(1));

describe("the client's record", () => {
  it("agrees with a log that is as it was published", async () => {
    expect(await verify(fullRecord(), nodeWith(healthyLog()))).toEqual([]);
  });

  const wrongs: Record<string, [StoredChunk[], string]> = {
    "a message that was admitted and is gone": [
      logWith((chunks) => chunks.splice(0, 1)),
      "m1 was admitted and is gone",
    ],
    "a message that is there twice": [
      logWith((chunks) => chunks.push({ ...(chunks[0] as StoredChunk), seq: 5 })),
      "m1 is there 2 times",
    ],
    "a message that was not sent": [
      logWith((chunks) => chunks.push({ ...(chunks[0] as StoredChunk), seq: 5, messageId: "m9" })),
      "a message m9 that was not sent",
    ],
    "a gap": [logWith((chunks) => chunks.splice(2, 1)), "seq 4 stands at place 3"],
    "a call without a result": [logWith((chunks) => chunks.splice(2, 1)), "call m1.0.0 has no result"],
    "a result that was published and is gone": [
      logWith((chunks) => chunks.splice(2, 1)),
      "the result of m1.0.0 was received and is gone",
    ],
    "a second result": [
      logWith((chunks) => chunks.push({ ...(chunks[2] as StoredChunk), seq: 5 })),
      "call m1.0.0 has two results",
    ],
    "a committed chunk that changed": [
      logWith((chunks) => {
        chunks[3] = { ...(chunks[3] as StoredChunk), chunk: { type: "text", text: "one three" } };
      }),
      "seq 4 was received as",
    ],
    "a turn that goes on behind another": [
      logWith((chunks) => {
        chunks[2] = { ...(chunks[2] as StoredChunk), turnId: "t2" };
      }),
      "turn t1 goes on at seq 4",
    ],
  };
  for (const [name, [chunks, words]] of Object.entries(wrongs)) {
    it(`notices ${name}`, async () => {
      expect((await verify(fullRecord(), nodeWith(chunks))).join("\n")).toContain(words);
    });
  }

  it("notices a message that is in the log and waits as well", async () => {
    const problems = await verify(fullRecord(), nodeWith(healthyLog(), { waiting: ["m1"] }));
    expect(problems.join("\n")).toContain("m1 is there 2 times");
  });

  it("notices a message that was removed and is there", async () => {
    const record = fullRecord();
    const sent = record.sent.get("m1");
    if (sent !== undefined) sent.removal = "done";
    expect((await verify(record, nodeWith(healthyLog()))).join("\n")).toContain(
      "m1 was removed and is there",
    );
  });

  it("notices a message that was edited and says something else", async () => {
    const record = fullRecord();
    const sent = record.sent.get("m1");
    if (sent !== undefined) sent.edits = [{ text: "do talk m1", isDone: true }];
    expect((await verify(record, nodeWith(healthyLog()))).join("\n")).toContain('is "do fail m1"');
  });

  it("takes either text where an edit's outcome is unknown", async () => {
    const record = fullRecord();
    const sent = record.sent.get("m1");
    if (sent !== undefined) sent.edits = [{ text: "do talk m1", isDone: false }];
    expect(await verify(record, nodeWith(healthyLog()))).toEqual([]);
  });

  it("notices a turn that was reported to have ended otherwise", async () => {
    const problems = await verify(fullRecord(), nodeWith(healthyLog(), { reason: "interrupted" }));
    expect(problems.join("\n")).toContain("turn t1 was reported as sealed with");
  });

  it("notices a text that was written down and is shorter now", async () => {
    const record = fullRecord();
    record.report({
      type: "store",
      method: "flushJournal",
      batches: [{ turnId: "t1", epoch: 1, lastN: 2, outcome: "ok" }],
    });
    const shorter = logWith((chunks) => {
      chunks[3] = { ...(chunks[3] as StoredChunk), chunk: { type: "text", text: "one" } };
    });
    expect((await verify(record, nodeWith(shorter))).join("\n")).toContain(
      '"one " was flushed, and "one" is left',
    );
  });

  it("notices a tool that ran twice and must not", async () => {
    const record = fullRecord();
    record.report({ type: "tool", phase: "start", name: "once", conversationId, toolCallId: "m1.0.0" });
    expect((await verify(record, nodeWith(healthyLog()))).join("\n")).toContain("once ran 2 times");
  });

  it("notices a tool that was started before its call was durable", async () => {
    const record = fullRecord();
    record.report({ type: "tool", phase: "start", name: "slow", conversationId, toolCallId: "m1.1.0" });
    const problems = await verify(record, nodeWith(healthyLog()));
    expect(problems.join("\n")).toContain("a call m1.1.0 that is not in the log");
  });

  it("notices a cursor that does not lead to the end", async () => {
    const forgetful: LogReader = { ...nodeWith(healthyLog()), resume: async () => [] };
    expect((await verify(fullRecord(), forgetful)).join("\n")).toContain("a viewer that comes back at 0");
  });

  it("notices what is received twice in two ways", async () => {
    const record = fullRecord();
    const [viewer] = record.viewers;
    if (viewer === undefined) throw new Error("the record has no viewer");
    const event = {
      type: "turn-sealed",
      conversationId,
      turnId: "t1",
      firstSeq: 1,
      lastSeq: 4,
      reason: "error",
    };
    record.take(viewer, { type: "chat.delta", cursor: "4", event } as never);
    expect((await verify(record, nodeWith(healthyLog()))).join("\n")).toContain(
      "the seal of t1: received as",
    );
  });
});
