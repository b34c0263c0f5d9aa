import { createMemoryLogStore } from "@parley/testing";
import type { ExportedChunk, ExportedConversation, ExportedTurn, ExportLine, StepId } from "@parley/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fileHashes, healthyHistory } from "../../messages/message-arbitrary.test-support.js";
import { toStoredChunks } from "../../messages/wire-chunks.js";
import type { LogStore } from "../../ports/log-store.js";
import { exportConversation } from "./export-conversation.js";
import { ImportLines } from "./import-lines.js";

const header: ExportedConversation = {
  type: "conversation",
  format: "parley.conversation.1",
  conversation: { id: "c1", createdAt: 1, lastActivityAt: 2, title: "Title", status: "idle" },
  lastSeq: 4,
};

function chunk(seq: number, given: Partial<ExportedChunk> = {}): ExportedChunk {
  return {
    type: "chunk",
    seq,
    role: "user",
    chunk: { type: "text", text: `text ${seq}` },
    messageId: `m${seq}`,
    turnId: "t1",
    createdAt: 1_000,
    partIndex: 0,
    partCount: 1,
    ...given,
  };
}

const call: ExportedChunk = chunk(2, {
  role: "assistant",
  stepId: "t1.0" as StepId,
  chunk: {
    type: "tool-call",
    toolCallId: "call",
    toolName: "add",
    input: { a: 1 },
    argumentsText: '{"a": 1}',
  },
});
const result: ExportedChunk = chunk(3, {
  role: "tool",
  stepId: "t1.0" as StepId,
  chunk: { type: "tool-result", toolCallId: "call", toolName: "add", content: "2", isError: false },
});

const turn: ExportedTurn = {
  type: "turn",
  turnId: "t1",
  startedAt: 1_000,
  sealedAt: 2_000,
  metrics: { turnId: "t1", usage: { inputTokens: 1, outputTokens: 2 }, steps: [], reason: "stop" },
  providerCalls: [
    { id: "p1", stepId: "t1.0" as StepId, model: "m", provider: "p", startedAt: 1_000 },
    {
      id: "p2",
      stepId: "t1.1" as StepId,
      purpose: "compaction",
      model: "s",
      provider: "p",
      startedAt: 1_500,
    },
    { id: "p3", stepId: "t1.1" as StepId, model: "m", provider: "p", startedAt: 1_600 },
  ],
};

const last = chunk(4, { role: "assistant", stepId: "t1.1" as StepId });
const whole: readonly ExportLine[] = [header, chunk(1), call, result, last, turn];

function read(lines: readonly unknown[], maxBytes = 1_000_000) {
  const reader = new ImportLines(maxBytes);
  for (const line of lines) reader.take(line as ExportLine);
  return reader.finish();
}

/** Returns the lines with one of them changed. */
function withLine(index: number, change: object): unknown[] {
  return whole.map((line, at) => (at === index ? { ...line, ...change } : line));
}

describe("the lines of an export", () => {
  it("are read into rows and turns, with what can be known again of who wrote what", () => {
    const { entries, turns } = read(whole);
    expect(entries.map(({ firstSeq, turnId, stepId }) => [firstSeq, turnId, stepId])).toEqual([
      [1, "t1", undefined],
      [2, "t1", "t1.0"],
      [3, "t1", "t1.0"],
      [4, "t1", "t1.1"],
    ]);
    expect(entries[1]?.message.metadata).toEqual({ origin: { provider: "p", model: "m" } });
    expect(entries[3]?.message.metadata).toEqual({ origin: { provider: "p", model: "m" } });
    expect(turns).toMatchObject([{ turnId: "t1", firstSeq: 1, lastSeq: 4, reason: "stop" }]);
  });

  it("name a call's model with its credential or without", () => {
    const named = (given: object) => {
      const providerCalls = turn.providerCalls.map((each) => ({ ...each, ...given }));
      return read(withLine(5, { providerCalls })).turns[0]?.providerCalls[0];
    };
    expect(named({ model: "p/m" })?.metadata).toEqual({ provider: "p", model: "m" });
    const whole = { model: "credential/m", providerModel: "m-2026" };
    expect(named(whole)).toMatchObject({
      modelName: "credential/m",
      metadata: { provider: "p", model: "m-2026" },
    });
    expect(() => named({ providerModel: 3 })).toThrow("line 6: providerCalls: providerModel is a text");
  });

  it("may reuse the ids of calls in later steps", () => {
    const again = [
      { ...header, lastSeq: 5 },
      chunk(1),
      call,
      result,
      { ...call, seq: 4, messageId: "m4" },
      { ...result, seq: 5, messageId: "m5" },
      turn,
    ];
    expect(read(again).entries).toHaveLength(5);
  });

  const refusals: [string, number, RegExp, unknown[]][] = [
    ["no line at all", 0, /empty/, []],
    ["no conversation in front", 1, /first line/, whole.slice(1)],
    ["another format", 1, /format "parley.conversation.2"/, withLine(0, { format: "parley.conversation.2" })],
    ["fields of the conversation that are not known", 1, /field color/, withLine(0, { color: "red" })],
    ["a title that is none", 1, /title/, withLine(0, { conversation: { ...header.conversation, title: 1 } })],
    ["a second conversation", 7, /second/, [...whole, header]],
    ["a line of another kind", 7, /type "surprise"/, [...whole, { type: "surprise" }]],
    ["a line that is not an object", 2, /type/, [header, "chunk"]],
    ["null for a line", 2, /type/, [header, null]],
    ["a chunk of another kind", 3, /"hologram"/, withLine(2, { chunk: { type: "hologram" } })],
    ["a role of another kind", 3, /role "poet"/, withLine(2, { role: "poet" })],
    ["a gap in the seqs", 3, /seq 3 where 2 is next/, whole.filter((line) => line !== call)],
    ["a seq that comes twice", 4, /seq 2 where 3/, [header, chunk(1), call, call, result, last, turn]],
    ["a file cut among its chunks", 4, /cut short/, whole.slice(0, 4)],
    ["a file cut before its turns", 5, /cut short/, whole.slice(0, 5)],
    ["more chunks than there are", 6, /behind/, [...whole.slice(0, 5), chunk(5), turn]],
    ["a chunk behind the turns", 6, /before turns/, [header, chunk(1), call, result, turn, last]],
    ["a message that lacks a chunk", 2, /2 chunks has 1/, withLine(1, { partCount: 2 })],
    ["a message id used twice", 6, /m1/, withLine(4, { messageId: "m1" })],
    ["a field that a chunk's line has no place for", 2, /kept/, withLine(1, { color: "red" })],
    [
      "a value that differs from the text it is derived from",
      3,
      /kept/,
      withLine(2, { chunk: { ...call.chunk, input: { a: 2 } } }),
    ],
    ["a text that is none", 2, /kept/, withLine(1, { chunk: { type: "text", text: 7 } })],
    [
      "a file without its bytes",
      2,
      /kept/,
      withLine(1, { chunk: { type: "text", text: "[file, a/b]", inline: { mediaType: "a/b" } } }),
    ],
    [
      "a call without a result",
      3,
      /call has no result/,
      withLine(3, { chunk: { type: "text", text: "" }, role: "user" }),
    ],
    [
      "covers on what is no summary",
      2,
      /covers/,
      withLine(1, { chunk: { type: "text", text: "", covers: {} } }),
    ],
    [
      "a summary of what comes later",
      2,
      /before its own/,
      withLine(1, {
        role: "system",
        chunk: { type: "system", text: "", covers: { firstSeq: 1, lastSeq: 3 } },
      }),
    ],
    ["an undone chunk that is not a summary", 2, /undone/, withLine(1, { undone: true })],
    ["a turn that was not sealed", 6, /t2.*open/, withLine(4, { turnId: "t2" })],
    ["a turn torn apart", 6, /torn/, withLine(2, { turnId: undefined })],
    [
      "a turn without chunks",
      7,
      /no chunks/,
      [...whole, { ...turn, turnId: "t2", metrics: { ...turn.metrics, turnId: "t2" } }],
    ],
    ["a turn that comes twice", 7, /twice/, [...whole, turn]],
    ["a turn without figures", 6, /metrics/, withLine(5, { metrics: null })],
    [
      "a call that cannot be kept",
      6,
      /p1/,
      withLine(5, { providerCalls: [{ ...turn.providerCalls[0], attempts: 3 }] }),
    ],
  ];
  it.each(refusals)("are refused for %s, naming line %i", (_, line, reason, lines) => {
    const refusal = () => read(lines);
    expect(refusal).toThrow(reason);
    expect(refusal).toThrow(expect.objectContaining({ code: "invalid_request", details: { line } }));
  });

  it("are refused when they are nested deeper than anything that is stored", () => {
    let deep: unknown = "end";
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(() => read(withLine(1, { chunk: { type: "data", data: deep } }))).toThrow(/line 2/);
  });

  it("are refused as too large, while they are read", () => {
    expect(() => read(whole, 300)).toThrow(expect.objectContaining({ code: "too_large" }));
  });
});

describe("an export", () => {
  const store = () => createMemoryLogStore({ clock: { now: () => 5_000 } }).forOwner("me");

  async function exported(from: LogStore, id: string): Promise<ExportLine[]> {
    const lines: ExportLine[] = [];
    for await (const line of exportConversation(from, id)) lines.push(JSON.parse(JSON.stringify(line)));
    return lines;
  }

  it("of whatever parts a log holds is read again without loss", async () => {
    await fc.assert(
      fc.asyncProperty(healthyHistory, async (history) => {
        const lines: ExportLine[] = [];
        for (const [index, given] of history.entries()) {
          const message = { ...given, id: `m${index}`, createdAt: new Date(index) };
          const stored = toStoredChunks(message, { firstSeq: lines.length + 1 });
          lines.push(...stored.map((each) => ({ type: "chunk" as const, ...each })));
        }
        const file = [{ ...header, lastSeq: lines.length }, ...lines].map(
          (line) => JSON.parse(JSON.stringify(line)) as ExportLine,
        );
        const into = store();
        for (const hash of fileHashes) {
          await into.beginUpload({ id: hash, stalledMs: 1_000 });
          await into.finishUpload({ id: hash, hash, name: "a", mediaType: "b/c", unsentMs: 1_000 });
        }
        await into.importConversation(read(file));
        expect(await exported(into, "c1")).toEqual(file);
      }),
    );
  });
});
