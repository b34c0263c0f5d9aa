import { describe, expect, it } from "vitest";
import { hashText } from "../messages/text/hash.js";
import type { HistoryEntry } from "../ports.js";
import { noCost } from "./context-cost.js";
import { call, message, numbered, quarterScale, result } from "./history.test-support.js";
import { describeRequest, type ManifestInput, windowStart } from "./manifest.js";
import { createMessageMeter } from "./message-tokens.js";
import { selectWindow, type WindowOptions } from "./select-window.js";

const measure = createMessageMeter(quarterScale);

async function manifestOf(
  log: readonly HistoryEntry[],
  more: Partial<ManifestInput> = {},
  options: Partial<WindowOptions> = {},
) {
  const window = selectWindow(log.toReversed(), { measure, slack: 0, ...options });
  return (await describeRequest({ window, ...more })).manifest;
}

const instructions = { text: "Be brief.", cost: { ...noCost, tokens: 7 } };
const tools = { definitions: [{ name: "look" }], cost: { ...noCost, tokens: 5 } };

const turn = (id: string): HistoryEntry[] => [
  { message: message(`${id}u`, "user", `ask ${id}`), turnId: id },
  { message: message(`${id}a`, "assistant", `answer ${id}`), turnId: id },
];

describe("a manifest", () => {
  const log = numbered([...turn("a"), ...turn("b")]);

  it("lists instructions, tools and the seqs that were sent", async () => {
    const manifest = await manifestOf(log, { instructions, tools, contextWindow: 1_000 });
    expect(manifest).toMatchObject({
      instructionsHash: hashText("Be brief."),
      toolsHash: hashText('[{"name":"look"}]'),
      contextWindow: 1_000,
      dropped: [],
      transforms: [],
    });
    expect(manifest.segments.map(({ hash: _, ...segment }) => segment)).toEqual([
      { kind: "instructions", estimatedTokens: 7 },
      { kind: "tools", estimatedTokens: 5 },
      { kind: "messages", firstSeq: 1, lastSeq: 4, estimatedTokens: 24 },
    ]);
    expect(manifest.estimatedTokens).toBe(36);
    expect(manifest.prefixHash).toBe(manifest.segments.at(-1)?.hash);
    expect(manifest).not.toHaveProperty("prefixKept");
  });

  it("splits the sent seqs where the log has a gap, and names the role of what has only one", async () => {
    const compacted = numbered([
      ...turn("a"),
      { message: message("s", "system", "so far"), covers: { fromSeq: 1, toSeq: 2 } },
      { message: message("bu", "user", "ask b"), turnId: "b" },
    ]);
    expect((await manifestOf(compacted)).segments).toMatchObject([
      { kind: "summary", role: "system", firstSeq: 3, lastSeq: 3 },
      { kind: "messages", role: "user", firstSeq: 4, lastSeq: 4 },
    ]);
  });

  it("names the repairs with the seqs that they touched", async () => {
    const broken = numbered([
      { message: message("u", "user", "ask") },
      { message: message("a", "assistant", [call("k1"), call("k2")]) },
      { message: message("r", "tool", [result("k2")]) },
    ]);
    const manifest = await manifestOf(broken);
    expect(manifest.transforms).toContainEqual({
      kind: "result-synthesized",
      firstSeq: 2,
      lastSeq: 3,
      detail: "call k1",
    });
    expect(manifest.segments).toMatchObject([{ kind: "messages", firstSeq: 1, lastSeq: 4 }]);
  });

  it("knows where its window began only if something did not fit", async () => {
    expect(windowStart(await manifestOf(log))).toBeUndefined();
    expect(windowStart(await manifestOf(log, {}, { budget: { maxMessages: 2 } }))).toBe(3);
  });
});

describe("the prefix", async () => {
  const first = numbered([...turn("a"), ...turn("b")]);
  const longer = numbered([...turn("a"), ...turn("b"), ...turn("c")]);
  const previous = { manifest: await manifestOf(first, { instructions, tools, model: "m1" }), model: "m1" };

  it("is kept by a request that only adds to the one before, and shows what is new", async () => {
    const manifest = await manifestOf(longer, { instructions, tools, model: "m1", previous });
    expect(manifest).toMatchObject({ prefixKept: true, prefixKeptTokens: previous.manifest.estimatedTokens });
    expect(manifest).not.toHaveProperty("prefixBreak");
    expect(manifest.segments.slice(2)).toMatchObject([
      { firstSeq: 1, lastSeq: 4 },
      { firstSeq: 5, lastSeq: 6 },
    ]);
  });

  it("is broken by other instructions from the start", async () => {
    const other = { ...instructions, text: "Be long." };
    const manifest = await manifestOf(longer, { instructions: other, tools, model: "m1", previous });
    expect(manifest).toMatchObject({
      prefixKept: false,
      prefixKeptTokens: 0,
      prefixBreak: { at: "instructions", detail: "instructions changed" },
    });
  });

  it("is broken by tools that were added or taken away, behind the instructions", async () => {
    const more = { ...tools, definitions: [{ name: "look" }, { name: "write" }] };
    for (const now of [more, undefined]) {
      expect(await manifestOf(longer, { instructions, tools: now, model: "m1", previous })).toMatchObject({
        prefixKept: false,
        prefixKeptTokens: 7,
        prefixBreak: { at: "tools", detail: "tools changed" },
      });
    }
  });

  it("is broken by another model although no message changed", async () => {
    const manifest = await manifestOf(longer, { instructions, tools, model: "m2", previous });
    expect(manifest).toMatchObject({ prefixKept: false, prefixBreak: { at: "model", detail: "m1 -> m2" } });
  });

  it("is broken by a window that moved, and by a compaction", async () => {
    const moved = await manifestOf(
      longer,
      { instructions, tools, model: "m1", previous },
      { budget: { maxMessages: 4 } },
    );
    expect(moved).toMatchObject({
      prefixKept: false,
      prefixKeptTokens: 12,
      prefixBreak: { at: "messages", seq: 3, detail: "window moved" },
    });
    const compacted = numbered([
      ...turn("a"),
      ...turn("b"),
      { message: message("s", "system", "so far"), covers: { fromSeq: 1, toSeq: 2 } },
      ...turn("c"),
    ]);
    expect(await manifestOf(compacted, { instructions, tools, model: "m1", previous })).toMatchObject({
      prefixKept: false,
      prefixKeptTokens: 12,
      prefixBreak: { at: "summary", seq: 5, detail: "compaction" },
    });
  });
});
