import type { Tool } from "@parley/core";
import type { ConversationMessage } from "@parley/core/messages";
import type { TurnOutcome, TurnSetup } from "@parley/core/turn";
import { runTurn } from "@parley/core/turn";
import type { AgentEvent } from "@parley/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCountingIds } from "./counting-ids.js";
import { checkEventOrder } from "./event-order.js";
import {
  crash,
  cut,
  fail,
  finish,
  hang,
  part,
  reasoning,
  refuse,
  type ScriptEntry,
  text,
  toolCall,
  usage,
} from "./provider/script.js";
import { createScriptedProvider } from "./provider/scripted-provider.js";

const conversationId = "c";

const tools: Tool<never>[] = [
  { name: "ok", execute: () => "fine" },
  { name: "throws", execute: () => Promise.reject(new Error("no")) },
  {
    name: "prints",
    execute(_, context) {
      context.output("a");
      context.output("b", "stderr");
      return { printed: 2 };
    },
  },
];

function message(id: string): ConversationMessage {
  return { id, conversationId, role: "user", createdAt: new Date(0), content: [{ type: "text", text: id }] };
}

async function follow(setup: TurnSetup): Promise<{ events: AgentEvent[]; outcome: TurnOutcome }> {
  const events: AgentEvent[] = [];
  const turn = runTurn(setup);
  for (;;) {
    const next = await turn.next();
    if (next.done) return { events, outcome: next.value };
    events.push(next.value);
  }
}

type Entry = (abort: AbortController) => ScriptEntry;
const always =
  (made: ScriptEntry): Entry =>
  () =>
    made;
const stop: Entry = (abort) => (context) => {
  abort.abort();
  return hang()(context);
};
const entry: fc.Arbitrary<Entry> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(text("a"), text(""), text("bc", { index: 3 }), reasoning("r")).map(always),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom("ok", "throws", "prints", "unknown").map((name) => always(toolCall(name))),
  },
  { weight: 1, arbitrary: fc.constant(always(toolCall("ok", "{", { id: "same" }))) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(usage(3, 4), part({ type: "text", text: "whole" }), finish("length"))
      .map(always),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(cut(), fail("network"), crash(), refuse("rate_limited")).map(always),
  },
  { weight: 1, arbitrary: fc.constant(stop) },
);

describe("the turn loop", () => {
  it("keeps the order of events for any script, with any tools, steering and failing commits", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(entry, { maxLength: 6 }), { maxLength: 4 }),
        fc.record({
          withTools: fc.boolean(),
          steerAt: fc.nat({ max: 4 }),
          failAt: fc.nat({ max: 6 }),
          maxSteps: fc.integer({ min: 1, max: 4 }),
        }),
        async (scripts, { withTools, steerAt, failAt, maxSteps }) => {
          const abort = new AbortController();
          let commits = 0;
          const { events, outcome } = await follow({
            conversationId,
            turnId: "t",
            provider: createScriptedProvider((_, index) =>
              (scripts[index] ?? [always(text("end"))]).map((make) => make(abort)),
            ),
            providerParams: { metadata: { provider: "test", model: "m" } },
            ...(withTools ? { tools } : {}),
            userMessages: [message("hi")],
            context: async () => ({ messages: [] }),
            sink: {
              async commitStep({ phase }) {
                commits += 1;
                if (commits === failAt) throw new Error("disk full");
                return phase === "results" && commits === steerAt ? { steering: [message("more")] } : {};
              },
            },
            limits: { maxSteps },
            ids: createCountingIds("id"),
            signal: abort.signal,
          });
          expect(checkEventOrder(events, { lastEvent: "done" })).toEqual([]);
          expect(events.at(-1)).toMatchObject({ type: "done", reason: outcome.reason });
        },
      ),
      { numRuns: 400 },
    );
  });
});
