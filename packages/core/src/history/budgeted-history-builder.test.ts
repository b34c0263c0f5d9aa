import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InMemoryConversationStore } from "../engine/in-memory-conversation-store.js";
import { isParleyError } from "../errors.js";
import type { ConversationMessage } from "../messages/message.js";
import { toProviderMessages } from "../messages/provider/provider-messages.js";
import type { HistoryEntry } from "../ports.js";
import { BudgetedHistoryBuilder } from "./budgeted-history-builder.js";
import { idsOf, logs, message, numbered, quarterTokens } from "./history.test-support.js";
import type { HistoryBuildRequest, HistoryBuildResult, PreviousCall } from "./history-builder.js";
import { conversation, LogReader, storeOf, withoutReader } from "./history-store.test-support.js";

const builder = new BudgetedHistoryBuilder({ tokens: quarterTokens });

function plainLog(messages: number): HistoryEntry[] {
  return numbered(
    Array.from({ length: messages }, (_, index) => ({
      message: message(`m${index}`, index % 2 === 0 ? "user" : "assistant", `message number ${index}`),
    })),
  );
}

async function build(
  log: readonly HistoryEntry[],
  request: Partial<HistoryBuildRequest> = {},
): Promise<HistoryBuildResult & { read: number }> {
  const reader = new LogReader(log);
  const built = await builder.buildHistory({
    conversation,
    store: storeOf(reader),
    newUserMessages: [],
    ...request,
  });
  return { ...built, read: reader.read };
}

describe("a budgeted history", () => {
  const input = message("new", "user", "and now?");

  it("is the newest turns that fit, the input last, with what was left out", async () => {
    const built = await build(plainLog(10), { newUserMessages: [input], budget: { maxMessages: 8 } });
    expect(idsOf(built.messages)).toEqual(["m6", "m7", "m8", "m9", "new"]);
    expect(built.truncated).toBe(true);
    expect(built.dropped).toEqual({
      ranges: [{ firstSeq: 1, lastSeq: 6, reason: "budget" }],
      parts: 6,
    });
    expect(built.manifest?.dropped).toEqual(built.dropped?.ranges);
    expect(built.entries?.map((entry) => entry.firstSeq)).toEqual([7, 8, 9, 10, undefined]);
  });

  it("says nothing of drops where everything fits", async () => {
    const built = await build(plainLog(4), { newUserMessages: [input] });
    expect(built).toMatchObject({ truncated: false });
    expect(built).not.toHaveProperty("dropped");
  });

  it("counts instructions and tools", async () => {
    const budget = { maxTokens: 100 };
    const alone = await build(plainLog(20), { newUserMessages: [input], budget });
    const beside = await build(plainLog(20), {
      newUserMessages: [input],
      budget,
      instructions: "x".repeat(120),
      tools: [{ name: "look", description: "Looks something up" }],
    });
    expect(beside.messages.length).toBeLessThan(alone.messages.length);
    expect(beside.manifest?.estimatedTokens).toBeLessThanOrEqual(100);
    expect(beside.manifest?.segments.map(({ kind, lastSeq }) => [kind, lastSeq])).toEqual([
      ["instructions", undefined],
      ["tools", undefined],
      ["messages", 20],
      ["messages", undefined],
    ]);
  });

  it("refuses an input that alone exceeds the budget", async () => {
    const refused = build(plainLog(4), {
      newUserMessages: [message("big", "user", "x".repeat(1_000))],
      budget: { maxTokens: 100 },
    });
    await expect(refused).rejects.toSatisfy(
      (error) => isParleyError(error) && error.code === "context_overflow" && error.details?.needed === 254,
    );
  });

  it("reads as much of a long log as of a short one", async () => {
    const request = { newUserMessages: [input], budget: { maxTokens: 800 } };
    const short = await build(plainLog(1_000), request);
    const long = await build(plainLog(20_000), request);
    expect(long.read).toBe(short.read);
    expect(long.messages.length).toBe(short.messages.length);
    expect(long.read).toBeLessThan(300);
  });

  it("is the same from a store of eight methods, which also knows how many messages did not fit", async () => {
    const store = new InMemoryConversationStore();
    await store.createConversation({ id: conversation.id });
    await store.appendMessages([...plainLog(40).map((entry) => entry.message), input]);
    const request = { conversation, newUserMessages: [input], budget: { maxTokens: 150 } };
    const paged = await builder.buildHistory({ ...request, store });
    const listed = await builder.buildHistory({ ...request, store: withoutReader(store) });
    expect(idsOf(listed.messages)).toEqual(idsOf(paged.messages));
    expect(listed.manifest).toEqual(paged.manifest);
    expect(listed.dropped).toEqual({ ...paged.dropped, messages: 41 - listed.messages.length });
  });

  it("numbers what is not stored yet behind the log, if the whole log is known", async () => {
    const store = new InMemoryConversationStore();
    await store.createConversation({ id: conversation.id });
    await store.appendMessages(plainLog(2).map((entry) => entry.message));
    const built = await builder.buildHistory({
      conversation,
      store: withoutReader(store),
      newUserMessages: [input],
    });
    expect(built.manifest?.segments).toMatchObject([{ firstSeq: 1, lastSeq: 3 }]);
  });

  it("begins where the last one began until that no longer fits", async () => {
    let previous: PreviousCall | undefined;
    const kept: (boolean | undefined)[] = [];
    for (let messages = 2; messages <= 60; messages += 2) {
      const log = plainLog(messages + 1);
      const next: ConversationMessage[] = log.slice(-1).map((entry) => entry.message);
      const { manifest } = await build(log, {
        newUserMessages: next,
        budget: { maxMessages: 20 },
        model: "m",
        ...(previous === undefined ? {} : { previous }),
      });
      if (manifest !== undefined) previous = { manifest, model: "m" };
      kept.push(manifest?.prefixKept);
    }
    const misses = kept.filter((isKept) => isKept === false).length;
    // 20 messages are full after 9 turns; from then on each cut lets more than one fit.
    expect(misses).toBeGreaterThan(0);
    expect(misses).toBeLessThanOrEqual(Math.ceil((60 - 18) / 2 / 2));
  });
});

const bytes = (messages: readonly ConversationMessage[]) =>
  toProviderMessages(messages).map((each) => JSON.stringify(each));

describe("for any history, from one turn to the next", () => {
  /** Returns the log as it was when each turn had only its input. */
  function moments(log: readonly HistoryEntry[]): { before: HistoryEntry[]; input: HistoryEntry[] }[] {
    const turns = [...new Set(log.map((entry) => entry.turnId))];
    return turns.map((turnId) => {
      const start = log.findIndex((entry) => entry.turnId === turnId);
      const own = log.slice(start).filter((entry) => entry.turnId === turnId);
      const answered = own.findIndex((entry) => entry.message.role !== "user");
      const input = answered < 0 ? own : own.slice(0, answered);
      return { before: log.slice(0, start + input.length), input };
    });
  }

  const settings = fc.record({
    log: logs({ turnIds: true, compactions: false }),
    maxTokens: fc.option(fc.integer({ min: 40, max: 600 }), { nil: undefined }),
  });

  it("the earlier messages lower to identical bytes, as the manifest says", async () => {
    await fc.assert(
      fc.asyncProperty(settings, async ({ log, maxTokens }) => {
        let previous: PreviousCall | undefined;
        let sent: string[] = [];
        for (const { before, input } of moments(log)) {
          // A store gives back copies.
          const copy = structuredClone(before);
          let built: HistoryBuildResult;
          try {
            built = await build(copy, {
              newUserMessages: input.map((entry) => entry.message),
              ...(maxTokens === undefined ? {} : { budget: { maxTokens } }),
              ...(previous === undefined ? {} : { previous }),
            });
          } catch (error) {
            if (isParleyError(error) && error.code === "context_overflow") continue;
            throw error;
          }
          const now = bytes(built.messages);
          expect(built.providerMessages?.map((each) => JSON.stringify(each))).toEqual(now);
          const isPrefix = sent.every((each, index) => each === now[index]);
          if (previous !== undefined) expect(built.manifest?.prefixKept).toBe(isPrefix);
          if (maxTokens === undefined) expect(isPrefix).toBe(true);
          if (built.manifest !== undefined) previous = { manifest: built.manifest };
          sent = now;
        }
      }),
      { numRuns: 300 },
    );
  });
});
