import {
  createCountingIds,
  createScriptedProvider,
  finish,
  gate,
  hang,
  pause,
  type Script,
  settle,
  text,
  toolCall,
  usage,
} from "@parley/testing";
import type { AgentEvent } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { driveTurn, runTurn } from "./run-turn.js";
import type { Tool } from "./tools/tool.js";
import type { TurnSetup } from "./turn.js";
import { TurnEvents } from "./turn-events.js";

function setup(script: readonly Script[], more: Partial<TurnSetup> = {}): TurnSetup {
  return {
    conversationId: "c",
    turnId: "t",
    provider: createScriptedProvider(script),
    providerParams: { metadata: { provider: "test", model: "one" } },
    userMessages: [],
    ids: createCountingIds("id"),
    context: async () => ({ messages: [] }),
    sink: { commitStep: async () => ({}) },
    ...more,
  };
}

const tool = (name: string, execute: Tool<never>["execute"] = () => "done"): Tool<never> => ({
  name,
  execute,
});

describe("the events of a turn, for a reader", () => {
  it("begin with the first read, and are never more than one ahead", async () => {
    const emitted: number[] = [];
    const event = (n: number): AgentEvent => ({ type: "status", conversationId: "c", status: String(n) });
    const events = new TurnEvents(async (emit) => {
      for (let n = 0; n < 5; n += 1) {
        emitted.push(n);
        await emit(event(n));
      }
      return {} as never;
    });
    await settle();
    expect(emitted).toEqual([]);
    await events.next();
    await settle();
    expect(emitted).toEqual([0, 1]);
    await events.next();
    await settle();
    expect(emitted).toEqual([0, 1, 2]);
  });

  it("may be asked for several at once, and end with the outcome once", async () => {
    const events = runTurn(setup([[text("a"), text("b")]]));
    const results = await Promise.all(Array.from({ length: 9 }, () => events.next()));
    const kinds = results.map((result) =>
      result.done ? (result.value?.reason ?? "over") : result.value.type,
    );
    expect(kinds).toEqual([
      ...["user-message", "turn-start", "text-delta", "text-delta", "step-complete", "done"],
      ...["stop", "over", "over"],
    ]);
  });

  it("are abandoned when the reader leaves: what runs is canceled, and nothing more is committed", async () => {
    const phases: string[] = [];
    const aborted: string[] = [];
    const calls: string[] = [];
    const leaveAt = async (last: AgentEvent["type"]) => {
      const provider = createScriptedProvider([[text("On it. "), toolCall("wait")], [text("Never.")]]);
      const events = runTurn({
        ...setup([]),
        provider,
        tools: [
          tool("wait", (_, { signal, output }) => {
            output("waiting");
            return new Promise((resolve) => {
              signal.addEventListener("abort", () => resolve(aborted.push(last)));
            });
          }),
        ],
        sink: {
          async commitStep({ phase }) {
            phases.push(`${last}: ${phase}`);
            return {};
          },
        },
      });
      for await (const { type } of events) if (type === last) break;
      await settle();
      expect(await events.next()).toEqual({ value: undefined, done: true });
      calls.push(...provider.calls.map(({ state }) => `${last}: ${state}`));
    };
    await leaveAt("text-delta");
    await leaveAt("tool-output");
    expect([phases, aborted]).toEqual([["tool-output: generation"], ["tool-output"]]);
    expect(calls).toEqual(["text-delta: canceled", "tool-output: done"]);
  });

  it("that are thrown into or returned from before the first read never begin", async () => {
    const provider = createScriptedProvider([[text("a")]]);
    const events = runTurn({ ...setup([]), provider });
    await expect(events.throw(new Error("no"))).rejects.toThrow("no");
    expect((await events.next()).done).toBe(true);
    expect(provider.calls).toEqual([]);
  });

  it("fail with the error of the turn itself", async () => {
    const events = new TurnEvents(() => Promise.reject(new Error("broken")));
    await expect(events.next()).rejects.toThrow("broken");
    expect((await events.next()).done).toBe(true);
  });
});

describe("a turn that is driven", () => {
  async function drive(turn: TurnSetup) {
    const events: AgentEvent[] = [];
    const outcome = await driveTurn(turn, (event) => void events.push(event) as undefined);
    return { events, outcome, kinds: events.map(({ type }) => type) };
  }

  it("waits where its listener asks it to", async () => {
    const at = gate();
    const kinds: string[] = [];
    const outcome = driveTurn(setup([[text("a"), text("b")]]), (event) => {
      kinds.push(event.type);
      return event.type === "turn-start" ? at.wait() : undefined;
    });
    await at.reached;
    await settle();
    expect(kinds).toEqual(["user-message", "turn-start"]);
    at.open();
    expect((await outcome).reason).toBe("stop");
  });

  it("ends with an error where the provider's finish reason says so", async () => {
    const { outcome, kinds } = await drive(setup([[text("Half"), usage(1, 1), finish("error")]]));
    expect(outcome).toMatchObject({ reason: "error", error: { code: "provider_rejected" } });
    expect(kinds.slice(-2)).toEqual(["error", "done"]);
    expect(outcome.messages[0]?.content).toEqual([{ type: "text", text: "Half" }]);
  });

  it("hands the context a list of its own", async () => {
    const given: number[] = [];
    const kept: (readonly unknown[])[] = [];
    await drive(
      setup([[toolCall("add")], [text("Done.")]], {
        tools: [tool("add")],
        context: async ({ turnMessages }) => {
          given.push(turnMessages.length);
          kept.push(turnMessages);
          return { messages: [] };
        },
      }),
    );
    expect([given, kept.map(({ length }) => length)]).toEqual([
      [0, 2],
      [0, 2],
    ]);
  });

  it("offers and runs the tools that a step's context brings, from then on", async () => {
    const provider = createScriptedProvider([[toolCall("first")], [toolCall("second")], [text("Done.")]]);
    const { outcome, events } = await drive({
      ...setup([]),
      provider,
      tools: [tool("first")],
      context: async ({ stepIndex }) => ({
        messages: [],
        ...(stepIndex === 1 ? { tools: [tool("first"), tool("second")] } : {}),
      }),
    });
    expect(provider.calls.map(({ params }) => params.tools?.map(({ name }) => name))).toEqual([
      ["first"],
      ["first", "second"],
      ["first", "second"],
    ]);
    expect(events.filter((event) => event.type === "tool-result" && event.isError)).toEqual([]);
    expect(outcome.reason).toBe("stop");
  });

  it("that is stopped between steps makes no further one", async () => {
    const abort = new AbortController();
    const { outcome, kinds } = await drive(
      setup([[toolCall("add")], [text("Never.")]], {
        tools: [tool("add")],
        signal: abort.signal,
        context: async ({ stepIndex }) => {
          if (stepIndex === 1) abort.abort();
          return { messages: [] };
        },
      }),
    );
    expect(outcome.reason).toBe("aborted");
    expect(kinds.filter((kind) => kind === "step-complete")).toHaveLength(1);
    expect(outcome.providerCalls).toHaveLength(1);
  });

  it("that is taken over keeps the timings and the size that are known, and makes no step too many", async () => {
    const record = {
      id: "p",
      createdAt: new Date(0),
      metadata: { provider: "test", model: "one" },
      usage: { inputTokens: 7, outputTokens: 3 },
    };
    const settled = {
      id: "r",
      conversationId: "c",
      role: "tool" as const,
      createdAt: new Date(0),
      content: [{ type: "tool-result" as const, name: "add", toolCallId: "k", result: "2", durationMs: 4 }],
    };
    const { outcome } = await drive(
      setup([], {
        tools: [tool("add")],
        limits: { maxSteps: 1 },
        resume: {
          stepIndex: 0,
          pendingCalls: [{ type: "tool-call", name: "add", toolCallId: "k", arguments: {} }],
          settled: [settled],
          steps: [{ stepId: "t.0" as never, usage: { inputTokens: 7, outputTokens: 3 } }],
          providerCalls: [record],
        },
      }),
    );
    expect([outcome.reason, outcome.contextSize]).toEqual(["max-steps", 10]);
    expect(outcome.metrics.steps[0]?.tools).toEqual([
      { toolCallId: "k", toolName: "add", isError: false, durationMs: 4 },
    ]);
    const beyond = await drive(
      setup([[text("Never.")]], { limits: { maxSteps: 1 }, resume: { stepIndex: 1, messages: [settled] } }),
    );
    expect([beyond.outcome.reason, beyond.outcome.providerCalls]).toEqual(["max-steps", []]);
  });

  it("does not wait for a provider that never opens its stream", async () => {
    const abort = new AbortController();
    const never = new Promise<never>(() => {});
    const running = drive(
      setup([], { provider: { complete: () => never, completeStream: () => never }, signal: abort.signal }),
    );
    await settle();
    abort.abort();
    expect((await running).outcome.reason).toBe("aborted");
  });

  it("publishes nothing more of a stream that continues after its stop", async () => {
    const at = gate();
    const abort = new AbortController();
    const provider = createScriptedProvider([[text("One"), pause(at), text("two"), hang()]], {
      ignoreSignal: true,
    });
    const running = drive({ ...setup([]), provider, signal: abort.signal });
    await at.reached;
    abort.abort();
    const { outcome, events } = await running;
    at.open();
    await settle();
    expect(outcome.messages[0]?.content).toEqual([{ type: "text", text: "One" }]);
    expect(events.at(-1)?.type).toBe("done");
  });
});
