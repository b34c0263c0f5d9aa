import { createScriptedProvider, text } from "@parley/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../clock.js";
import type { ConversationMessage, MessageRole } from "../../messages/message.js";
import type { MessageContentPart } from "../../messages/part.js";
import { createTokenCounter } from "../../messages/tokens/token-counter.js";
import type { LogStore } from "../../ports/log-store.js";
import type { HistoryEntry, ProviderCallRecord } from "../../ports.js";
import { defaultRuntimeLimits } from "../environment.js";
import { createModelCatalog } from "../models.js";
import { OwnerModels } from "../owner-models.js";
import { createWindowPolicy } from "../window-policy.js";
import { keepNewest, keepTokens, nothingToCompact, planCompaction, summarize } from "./compaction.js";
import { createCompactionPolicy } from "./compaction-policy.js";

const env = {
  tokens: createTokenCounter(),
  clock: systemClock,
  compaction: createCompactionPolicy(),
  keepRaw: false,
  ownerModels: new OwnerModels({
    catalog: createModelCatalog([]),
    policy: createWindowPolicy({ clock: systemClock }),
    onChange: undefined,
    report: () => {},
  }),
  limits: defaultRuntimeLimits,
};
const turnId = "t";

/** Returns a log that can be read from its newest end, in pages of any size. */
function storeOf(entries: readonly HistoryEntry[], pageSize = 3): LogStore {
  const store: Pick<LogStore, "readNewest"> = {
    async readNewest({ before = Number.MAX_SAFE_INTEGER }) {
      const older = entries.filter(({ lastSeq = 0 }) => lastSeq < before).toReversed();
      const page = older.slice(0, pageSize);
      const oldest = page.at(-1)?.firstSeq;
      return {
        entries: page,
        ...(older.length > page.length && oldest !== undefined ? { before: oldest } : {}),
      };
    },
  };
  return store as LogStore;
}

function log(rows: readonly [MessageRole, MessageContentPart[], Partial<HistoryEntry>?][]): HistoryEntry[] {
  let seq = 0;
  return rows.map(([role, content, more], index) => {
    const firstSeq = seq + 1;
    seq += content.length;
    const message: ConversationMessage = {
      id: `m${index}`,
      conversationId: "c",
      role,
      createdAt: new Date(0),
      content,
    };
    return { message, firstSeq, lastSeq: seq, ...more };
  });
}

const say = (words: string): MessageContentPart => ({ type: "text", text: words });
const call = (id: string): MessageContentPart => ({
  type: "tool-call",
  name: "read",
  toolCallId: id,
  arguments: {},
});
const answer = (id: string): MessageContentPart => ({
  type: "tool-result",
  name: "read",
  toolCallId: id,
  result: "x",
});

describe("what a compaction covers", () => {
  it("is everything but the newest messages", async () => {
    const entries = log([
      ["user", [say("1")]],
      ["assistant", [say("2"), say("3")]],
      ["user", [say("4")]],
      ["assistant", [say("5")]],
    ]);
    const plan = await planCompaction(env, storeOf(entries), "c", keepNewest(1));
    expect(plan).toMatchObject({ kept: 1, fromSeq: 1, toSeq: 4, earlier: undefined });
    expect(plan?.covered.map(({ message }) => message.id)).toEqual(["m0", "m1", "m2"]);
    expect(await planCompaction(env, storeOf(entries), "c", keepNewest(3))).toBeUndefined();
    expect(await planCompaction(env, storeOf([]), "c", keepNewest(0))).toBeUndefined();
  });

  it("continues from the newest summary, and covers what that one covered", async () => {
    const entries = log([
      ["user", [say("1")]],
      ["assistant", [say("2")]],
      ["user", [say("3")]],
      ["assistant", [say("4")]],
      ["system", [say("older summary")], { covers: { fromSeq: 1, toSeq: 2 } }],
      ["system", [say("summary")], { covers: { fromSeq: 1, toSeq: 3 } }],
      ["user", [say("7")]],
      ["assistant", [say("8")]],
    ]);
    const plan = await planCompaction(env, storeOf(entries), "c", keepNewest(1));
    expect(plan?.earlier?.message.id).toBe("m5");
    expect(plan?.covered.map(({ message }) => message.id)).toEqual(["m3", "m6"]);
    expect([plan?.fromSeq, plan?.toSeq]).toEqual([1, 7]);
  });

  it("never ends between a call and its result, whatever is kept", async () => {
    const step = fc.record({ calls: fc.nat({ max: 3 }), isSteered: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { maxLength: 4 }), { minLength: 1, maxLength: 4 }),
        fc.nat({ max: 15 }),
        fc.integer({ min: 1, max: 7 }),
        async (turns, keep, pageSize) => {
          let id = 0;
          const rows = turns.flatMap((steps): [MessageRole, MessageContentPart[]][] => [
            ["user", [say("question")]],
            ...steps.flatMap(({ calls, isSteered }): [MessageRole, MessageContentPart[]][] => {
              const ids = Array.from({ length: calls }, () => `k${id++}`);
              return [
                ["assistant", [say("thinking"), ...ids.map(call)]],
                ...ids.map((each): [MessageRole, MessageContentPart[]] => ["tool", [answer(each)]]),
                ...(isSteered ? [["user", [say("steer")]] as [MessageRole, MessageContentPart[]]] : []),
              ];
            }),
          ]);
          const entries = log(rows);
          const plan = await planCompaction(env, storeOf(entries, pageSize), "c", keepNewest(keep));
          if (plan === undefined) return;
          expect(plan.covered.length + plan.kept).toBe(entries.length);
          expect(plan.kept).toBeGreaterThanOrEqual(Math.min(keep, entries.length));
          const count = (type: string) =>
            plan.covered.flatMap(({ message }) => message.content).filter((part) => part.type === type)
              .length;
          expect(count("tool-result")).toBe(count("tool-call"));
          expect(plan.toSeq).toBe(entries[plan.covered.length - 1]?.lastSeq);
          expect(plan.estimatedTokens).toBeGreaterThan(0);
        },
      ),
    );
  });
});

describe("what a compaction inside a turn keeps", () => {
  const words = (count: number) => say("word ".repeat(count));
  const entries = log([
    ["user", [words(100)]],
    ["assistant", [words(100)]],
    ["user", [say("the input")], { turnId }],
    ["assistant", [say("a"), call("k1")], { turnId }],
    ["tool", [answer("k1")], { turnId }],
    ["assistant", [say("b"), call("k2")], { turnId }],
    [
      "tool",
      [{ type: "tool-result", name: "read", toolCallId: "k2", result: "word ".repeat(200) }],
      { turnId },
    ],
  ]).toReversed();
  const keptBy = (tokens: number, newestStepTokens: number) => {
    const keep = keepTokens(env, { tokens, newestStepTokens }, { turnId, inputIds: new Set(["m2"]) });
    const cut = entries.findIndex((entry, index) => !keep(entry, index));
    return (cut === -1 ? entries : entries.slice(0, cut)).map(({ message }) => message.id);
  };

  it("is what fits, and the newest step where that needs more", () => {
    expect(keptBy(50, 1_000)).toEqual(["m6", "m5"]);
    expect(keptBy(50, 100)).toEqual([]);
    expect(keptBy(260, 260)).toEqual(["m6", "m5", "m4", "m3", "m2"]);
    expect(keptBy(10_000, 10_000)).toHaveLength(7);
  });
});

describe("summing up", () => {
  const binding = (provider: ReturnType<typeof createScriptedProvider>, contextWindow: number) => ({
    name: "test/one",
    provider,
    providerName: "test",
    model: "one",
    contextWindow,
    declaredWindow: contextWindow,
    owner: "me",
  });

  it("goes piece by piece where the window is small, also through one long message", async () => {
    const long = Array.from({ length: 3_000 }, (_, index) => `word${index}`).join(" ");
    const entries = log([
      ["user", [say("short")]],
      ["assistant", [say(long)]],
      ["user", [say("last")]],
    ]);
    const plan = await planCompaction(env, storeOf(entries), "c", keepNewest(0));
    if (plan === undefined) throw new Error("a plan");
    const provider = createScriptedProvider((_, index) => [text(`memory ${index + 1}`)]);
    const made: ProviderCallRecord[] = [];
    const { signal } = new AbortController();
    const summary = await summarize(env, binding(provider, 2_000), plan, signal, (call) => made.push(call));
    expect(made.map(({ purpose }) => purpose)).toEqual(provider.calls.map(() => "compaction"));
    const asked = provider.calls.map(({ params }) => String(params.messages[1]?.content[0]?.text));
    expect(asked.length).toBeGreaterThan(3);
    expect(summary).toBe(`memory ${asked.length}`);
    for (const [index, request] of asked.entries()) {
      expect(env.tokens.countText(request)).toBeLessThan(2_000);
      if (index > 0) expect(request).toContain(`memory ${index}`);
    }
    // Nothing of the long message is left out.
    for (const index of [0, 1_500, 2_999]) expect(asked.join(" ")).toContain(`word${index}`);
    expect(asked.at(-1)).toContain("last");
  });

  it("ends when it is stopped, also where the provider continues", async () => {
    const entries = log([
      ["user", [say("1")]],
      ["assistant", [say("2")]],
    ]);
    const plan = await planCompaction(env, storeOf(entries), "c", keepNewest(0));
    if (plan === undefined) throw new Error("a plan");
    const provider = createScriptedProvider([() => new Promise(() => {})], { ignoreSignal: true });
    const abort = new AbortController();
    const made: ProviderCallRecord[] = [];
    const summary = summarize(env, binding(provider, 2_000), plan, abort.signal, (call) => made.push(call));
    await provider.called(1);
    abort.abort();
    await expect(summary).rejects.toMatchObject({ code: "canceled" });
    // It was made, and may have cost something; the amount is unknown.
    expect(made).toMatchObject([{ purpose: "compaction" }]);
    expect(made[0]).not.toHaveProperty("cost");
  });
});

describe("nothing to compact", () => {
  it("states the reason in words for the user", () => {
    const message = (lastSeq: number, keep: number) => nothingToCompact({ lastSeq }, keep).message;
    expect(message(0, 10)).toBe("The conversation is empty");
    expect(message(4, 0)).toBe("Nothing is left to sum up");
    expect(message(4, 1)).toMatch(/^Nothing older than the newest message is left/);
    expect(message(4, 10)).toMatch(/^Nothing older than the newest 10 messages .*; keep fewer messages/);
  });
});
