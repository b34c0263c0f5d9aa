import { isParleyError, ParleyError } from "@parley/core/errors";
import type { ProviderCallParams, ProviderStream, ProviderStreamEvent } from "@parley/core/ports";
import { describe, expect, it } from "vitest";
import { runCases } from "../contract-case.js";
import { gate } from "../gate.js";
import { type ProviderFixture, type ProviderScenario, providerContract } from "./provider-contract.js";
import type { Script } from "./script.js";
import {
  crash,
  cut,
  delay,
  fail,
  finish,
  hang,
  part,
  pause,
  reasoning,
  refuse,
  text,
  toolCall,
  usage,
} from "./script.js";
import { createScriptedProvider } from "./scripted-provider.js";

const params: ProviderCallParams = {
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  metadata: { provider: "test", model: "m" },
};

async function read(stream: ProviderStream | undefined): Promise<ProviderStreamEvent[]> {
  const events: ProviderStreamEvent[] = [];
  for await (const event of stream ?? []) events.push(event);
  return events;
}

const scenarios: Record<ProviderScenario, Script> = {
  text: [text("Hello, world", { size: 3 }), usage(10, 4, { cacheReadTokens: 2 })],
  tools: [text("Let me look."), toolCall("a", { x: 1 }, { progress: true }), toolCall("b", ""), usage(5, 6)],
  reasoning: [reasoning("Thinking about it", { size: 4 }), text("Done."), usage(1, 2)],
  refusing: [refuse("provider_auth")],
  breaking: [text("Half an ans"), fail("network")],
  hanging: [text("Wait"), hang()],
};

describe("createScriptedProvider", () => {
  const make = (scenario: ProviderScenario): ProviderFixture => ({
    provider: createScriptedProvider(scenarios[scenario]),
    params,
  });
  for (const { name, run } of providerContract(make)) it(`keeps the provider contract: ${name}`, run);

  it("plays one script per call, records what it was asked, and fails beyond the last", async () => {
    const provider = createScriptedProvider([[text("one")], [text("two")]]);
    expect((await provider.complete(params)).message.content).toEqual([{ type: "text", text: "one" }]);
    const second = { ...params, maxTokens: 5 };
    expect((await provider.complete(second)).message.content).toEqual([{ type: "text", text: "two" }]);
    await expect(provider.complete(params)).rejects.toMatchObject({ code: "internal" });
    expect(provider.calls.map((call) => call.params.maxTokens)).toEqual([undefined, 5, undefined]);
    expect(provider.calls.slice(0, 2).map((call) => call.state)).toEqual(["done", "done"]);
  });

  it("makes a script from the call, also a lazy one", async () => {
    const provider = createScriptedProvider(function* (given, index) {
      for (let count = 0; count < 3; count++) yield text(`${index}.${count}.${given.messages.length} `);
    });
    const { message } = await provider.complete(params);
    expect(message.content).toEqual([{ type: "text", text: "0.0.1 0.1.1 0.2.1 " }]);
  });

  it("waits at a gate until the test opens it", async () => {
    const door = gate();
    const provider = createScriptedProvider([text("a"), pause(door), text("b")]);
    const stream = await provider.completeStream?.(params);
    const events = read(stream);
    await door.reached;
    expect(provider.calls[0]?.state).toBe("open");
    door.open();
    expect((await events).map((event) => event.type)).toEqual(["delta", "delta", "done"]);
  });

  it("says when it has been called", async () => {
    const provider = createScriptedProvider([text("a")]);
    let called = false;
    const waiting = provider.called(2).then(() => {
      called = true;
    });
    await provider.complete(params);
    expect(called).toBe(false);
    await provider.complete(params);
    await waiting;
  });

  it("waits by the injected clock, before each entry where asked", async () => {
    const waits: number[] = [];
    const clock = {
      now: () => 0,
      monotonic: () => 0,
      after(ms: number, callback: () => void) {
        waits.push(ms);
        queueMicrotask(callback);
        return () => {};
      },
    };
    await createScriptedProvider([text("a"), delay(70)], { clock, delayMs: 5 }).complete(params);
    expect(waits).toEqual([5, 5, 70]);
  });

  it("builds the result in the order of the parts, whatever way they came", async () => {
    const provider = createScriptedProvider([
      reasoning("think"),
      part({ type: "reasoning", text: "think", providerMetadata: { p: { signature: "s" } } }),
      text("one "),
      text("two"),
      toolCall("f", '{"a":', { id: "x" }),
      text("three"),
      part({ type: "source", url: "https://example.com/" }),
      finish("length"),
    ]);
    const result = await provider.complete(params);
    expect(result).toMatchObject({
      finishReason: "length",
      toolCalls: [{ id: "x", name: "f", arguments: '{"a":', argumentsText: '{"a":' }],
    });
    expect(result.message.content).toEqual([
      { type: "reasoning", text: "think", providerMetadata: { p: { signature: "s" } } },
      { type: "text", text: "one two" },
      { type: "tool-call", name: "f", toolCallId: "x", arguments: '{"a":', argumentsText: '{"a":' },
      { type: "text", text: "three" },
      { type: "source", url: "https://example.com/" },
    ]);
  });

  it("lets parts grow side by side where they are numbered", async () => {
    const provider = createScriptedProvider([
      text("a", { index: 0 }),
      reasoning("x", { index: 1 }),
      text("b", { index: 0 }),
    ]);
    expect((await provider.complete(params)).message.content).toEqual([
      { type: "text", text: "ab" },
      { type: "reasoning", text: "x" },
    ]);
  });

  it("passes events through as they are, also a done of the test's own", async () => {
    const done: ProviderStreamEvent = {
      type: "done",
      result: { id: "own", createdAt: new Date(0), message: { role: "assistant", content: [] } },
    };
    const stream = await createScriptedProvider([done, text("never")]).completeStream?.(params);
    expect(await read(stream)).toEqual([done]);
  });

  it("reports the usage of the options where the script reports none", async () => {
    const options = { usage: { inputTokens: 1, outputTokens: 2 } };
    expect((await createScriptedProvider([text("a")], options).complete(params)).usage).toEqual(
      options.usage,
    );
    expect((await createScriptedProvider([usage(7, 8)], options).complete(params)).usage?.inputTokens).toBe(
      7,
    );
  });

  it("just ends where it is cut, and final says network", async () => {
    const stream = await createScriptedProvider([text("a"), cut()]).completeStream?.(params);
    expect((await read(stream)).map((event) => event.type)).toEqual(["delta"]);
    await expect(stream?.final).rejects.toMatchObject({ code: "network" });
  });

  it("turns a crash into an error event", async () => {
    const provider = createScriptedProvider([text("a"), crash(new TypeError("oops"))]);
    const events = await read(await provider.completeStream?.(params));
    const last = events.at(-1);
    expect(last?.type === "error" && isParleyError(last.error) && last.error).toMatchObject({
      code: "provider_rejected",
      message: "oops",
    });
    expect(provider.calls[0]?.state).toBe("failed");
  });

  it("fails with the error that the test holds", async () => {
    const error = new ParleyError("rate_limited", "slow down", { retryAfterMs: 5 });
    await expect(createScriptedProvider([fail(error)]).complete(params)).rejects.toBe(error);
  });

  it("has only complete where asked", async () => {
    const provider = createScriptedProvider([text("a")], { onlyComplete: true });
    expect(provider.completeStream).toBeUndefined();
    expect((await provider.complete(params)).message.content).toEqual([{ type: "text", text: "a" }]);
  });

  it("ignores an abort where asked", async () => {
    const door = gate();
    const abort = new AbortController();
    const provider = createScriptedProvider([text("a"), pause(door), text("b")], { ignoreSignal: true });
    const stream = await provider.completeStream?.({ ...params, signal: abort.signal });
    const events = read(stream);
    await door.reached;
    abort.abort();
    door.open();
    expect((await events).map((event) => event.type)).toEqual(["delta", "delta", "done"]);
  });
});

describe("providerContract", () => {
  const broken: [string, ProviderScenario, Script][] = [
    ["a stream that just ends", "breaking", [text("a"), cut()]],
    ["a stream without usage", "text", [text("a"), text("b")]],
    ["a text in one piece", "text", [text("ab"), usage(1, 1)]],
    [
      "deltas that do not carry the text so far",
      "text",
      [
        {
          type: "delta",
          delta: { role: "assistant", content: [{ type: "text", text: "a" }] },
          textDelta: "a",
        },
        {
          type: "delta",
          delta: { role: "assistant", content: [{ type: "text", text: "b" }] },
          textDelta: "b",
        },
        usage(1, 1),
      ],
    ],
    [
      "a call that comes twice",
      "tools",
      [toolCall("a", {}, { id: "x" }), toolCall("b", {}, { id: "x" }), usage(1, 1)],
    ],
    ["a call without its text", "tools", [...callsWithoutText(), usage(1, 1)]],
    ["a message without its reasoning", "reasoning", [text("a"), usage(1, 1)]],
    ["a refusal that succeeds", "refusing", [text("fine")]],
    ["an error that is not ours", "refusing", [refuse(new Error("raw"))]],
  ];
  for (const [what, scenario, script] of broken) {
    it(`catches ${what}`, async () => {
      const provider = createScriptedProvider(script);
      const cases = providerContract(() => ({ provider, params })).filter((each) =>
        each.name.startsWith(scenario),
      );
      const { failed } = await runCases(cases);
      expect(failed.map((failure) => failure.error).filter((error) => !(error instanceof Error))).toEqual([]);
      expect(failed.length).toBeGreaterThan(0);
    });
  }

  it("catches a final that rejects although no caller handles it", async () => {
    const provider = createScriptedProvider([text("a"), fail("network")]);
    const careless = {
      ...provider,
      async completeStream(given: ProviderCallParams): Promise<ProviderStream> {
        const stream = await (provider.completeStream?.(given) ?? Promise.reject(new Error("no stream")));
        return {
          final: Promise.reject(new ParleyError("network")),
          [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
        };
      },
    };
    const cases = providerContract(() => ({ provider: careless, params }));
    const name = "breaking: a failure that is not awaited is not an unhandled rejection";
    const quiet = muteUnhandledRejections();
    const { failed } = await runCases(cases.filter((each) => each.name === name));
    quiet.restore();
    expect(failed.map((failure) => failure.name)).toEqual([name]);
  });
});

function* callsWithoutText(): Iterable<ProviderStreamEvent> {
  for (const id of ["a", "b"]) yield { type: "tool-call", toolCall: { id, name: id, arguments: {} } };
}

/** Mutes unhandled rejections: the test runner counts them as failures of its own; here one is expected. */
function muteUnhandledRejections() {
  const listeners = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  return {
    restore() {
      for (const listener of listeners) process.on("unhandledRejection", listener);
    },
  };
}
