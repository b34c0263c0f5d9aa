import { createManualClock, settle } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../clock.js";
import type { ParleyError } from "../../errors.js";
import {
  createProviderStream,
  type ProviderStreamWriter,
  TextDelta,
} from "../../messages/provider/provider-stream.js";
import { defaultAnswerLimits } from "../../ports/answer-limits.js";
import type { ProviderAdapter, ProviderCallParams, ProviderStreamEvent } from "../../ports.js";
import { Assembly } from "./assemble.js";
import { collectAnswer } from "./collect-answer.js";
import { readAnswer } from "./read-answer.js";

const firstMs = 1_000;
const betweenMs = 200;
const limits = { ...defaultAnswerLimits, firstContentMs: firstMs, betweenContentMs: betweenMs };
const params: ProviderCallParams = { messages: [], metadata: { provider: "p", model: "m" } };
const text = (delta: string): ProviderStreamEvent => new TextDelta(delta, delta);
const done: ProviderStreamEvent = {
  type: "done",
  result: { id: "r", createdAt: new Date(0), message: { role: "assistant", content: [] } },
};

/** Returns a provider that writes when the test calls it. */
function openProvider() {
  let writer: ProviderStreamWriter | undefined;
  const provider: ProviderAdapter = {
    complete: () => Promise.reject(new Error("streams only")),
    completeStream: async (call) =>
      createProviderStream(
        async (given) => {
          writer = given;
          await new Promise<void>((resolve) => given.signal.addEventListener("abort", () => resolve()));
        },
        { signal: call.signal },
      ),
  };
  return {
    provider,
    write: (event: ProviderStreamEvent) => writer?.write(event),
    isCanceled: () => writer?.signal.aborted ?? false,
  };
}

function start(options: { show?: () => Promise<void> | undefined; signal?: AbortSignal } = {}) {
  const clock = createManualClock();
  const vendor = openProvider();
  const assembly = new Assembly(limits);
  let ended: { error?: ParleyError } | undefined;
  readAnswer(
    { provider: vendor.provider, params, limits, clock, signal: options.signal },
    assembly,
    options.show ?? (() => undefined),
  ).then(
    () => {
      ended = {};
    },
    (error: ParleyError) => {
      ended = { error };
    },
  );
  return { clock, assembly, ...vendor, ended: () => ended };
}

describe("waiting for a provider", () => {
  it("ends when no content came within the first bound, names it, and cancels the call", async () => {
    const { clock, ended, isCanceled } = start();
    await clock.advance(firstMs - 1);
    expect(ended()).toBeUndefined();
    await clock.advance(1);
    expect(ended()?.error).toMatchObject({
      code: "timeout",
      details: { limit: "firstContentMs", allowed: firstMs },
    });
    expect(ended()?.error?.message).toContain("limits.firstContentMs");
    expect(isCanceled()).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it("takes neither counters nor empty deltas for content", async () => {
    const empty: ProviderStreamEvent[] = [
      text(""),
      { type: "reasoning-delta", textDelta: "" },
      { type: "tool-input-delta", toolCallId: "c", name: "t", inputTextDelta: "" },
      { type: "usage", usage: { inputTokens: 1, outputTokens: 0 } },
      // A text so far that has not grown, from an adapter that sends no increments.
      { type: "delta", delta: { role: "assistant", content: [{ type: "text", text: "" }] } },
    ];
    for (const event of empty) {
      const { clock, write, ended } = start();
      await clock.advance(0);
      for (let passed = 0; passed < firstMs; passed += 100) {
        expect(ended()).toBeUndefined();
        write(event);
        await clock.advance(100);
      }
      expect(ended()?.error).toMatchObject({ code: "timeout", details: { limit: "firstContentMs" } });
    }
  });

  it("gives the second bound after each content of any kind, and then ends, keeping what came", async () => {
    const contents: ProviderStreamEvent[] = [
      text("a"),
      { type: "reasoning-delta", textDelta: "b" },
      { type: "tool-input-delta", toolCallId: "c", name: "t", inputTextDelta: "{" },
      { type: "tool-call", toolCall: { id: "c", name: "t", arguments: {}, argumentsText: "{}" } },
      { type: "part", part: { type: "source", url: "https://example.com" } },
    ];
    const { clock, write, ended, assembly } = start();
    await clock.advance(firstMs - 1);
    for (const event of contents) {
      write(event);
      await clock.advance(betweenMs - 1);
      expect(ended()).toBeUndefined();
    }
    await clock.advance(1);
    expect(ended()?.error).toMatchObject({
      code: "timeout",
      details: { limit: "betweenContentMs", allowed: betweenMs },
    });
    expect(assembly.partial().map(({ type }) => type)).toEqual(["text", "reasoning", "tool-call", "source"]);
  });

  it("does not count the time in which its own reader is busy, nor one in which the process was suspended", async () => {
    let release = () => {};
    const { clock, write, ended } = start({
      show: () =>
        new Promise<void>((resolve) => {
          release = resolve;
        }),
    });
    await clock.advance(0);
    write(text("a"));
    await clock.advance(10 * betweenMs);
    expect(ended()).toBeUndefined();
    release();
    await clock.advance(betweenMs - 1);
    clock.jump(60_000);
    await clock.advance(betweenMs - 1);
    expect(ended()).toBeUndefined();
    await clock.advance(betweenMs);
    expect(ended()?.error?.code).toBe("timeout");
  });

  it("holds a provider to the bounds that has no stream, or that never opens one", async () => {
    let signal: AbortSignal | undefined;
    const never = (call: ProviderCallParams) => {
      signal = call.signal;
      return new Promise<never>(() => {});
    };
    for (const provider of [{ complete: never }, { complete: never, completeStream: never }]) {
      const clock = createManualClock();
      const answer = collectAnswer({ provider, params, limits, clock, signal: undefined });
      const outcome = expect(answer).rejects.toMatchObject({ code: "timeout" });
      await clock.advance(firstMs);
      await outcome;
      expect(signal?.aborted).toBe(true);
    }
  });

  it("leaves no timer behind an answer that ended well", async () => {
    const { clock, write, ended, isCanceled } = start();
    await clock.advance(0);
    write(text("a"));
    write(done);
    await settle();
    expect(ended()).toEqual({});
    expect([clock.pending, isCanceled()]).toEqual([0, false]);
  });
});

describe("reading an answer", () => {
  it("ends at a bound, and cancels the call", async () => {
    const { clock, write, ended, isCanceled, assembly } = start();
    await clock.advance(0);
    for (let index = 0; index <= limits.answerCalls; index += 1) {
      const toolCall = { id: `c${index}`, name: "t", arguments: {}, argumentsText: "{}" };
      write({ type: "tool-call", toolCall, index });
    }
    while (ended() === undefined) await settle();
    expect(ended()?.error).toMatchObject({
      code: "answer_too_large",
      retryable: false,
      details: { limit: "answerCalls", allowed: limits.answerCalls },
    });
    expect(isCanceled()).toBe(true);
    expect(assembly.partial()).toHaveLength(limits.answerCalls);
  });

  it("lets the rest of the process continue, and a stop take effect, while a provider sends without end", async () => {
    const events: AsyncIterableIterator<ProviderStreamEvent> = {
      // Every event is available immediately: nothing but promises runs in between.
      next: () => Promise.resolve({ value: text("a"), done: false }),
      return: () => Promise.resolve({ value: undefined, done: true }),
      [Symbol.asyncIterator]: () => events,
    };
    const provider: ProviderAdapter = {
      complete: () => Promise.reject(new Error("streams only")),
      completeStream: async () => ({
        final: new Promise(() => {}),
        [Symbol.asyncIterator]: () => events,
      }),
    };
    const unbounded = { ...limits, answerBytes: Number.POSITIVE_INFINITY };
    const stop = new AbortController();
    const answer = collectAnswer({
      provider,
      params,
      limits: unbounded,
      clock: systemClock,
      signal: stop.signal,
    });
    setTimeout(() => stop.abort(), 0);
    await expect(answer).rejects.toMatchObject({ code: "canceled" });
  });
});
