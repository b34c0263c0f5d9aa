import { type ParleyClient, ParleyRequestError } from "@parley/client";
import type { AgentEvent, StepId } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { turnEvents } from "./turn-events.js";

const base = { conversationId: "c", turnId: "t" };
const stepId = "t.0" as StepId;
const call = { ...base, stepId, toolCallId: "1", toolName: "pay" };
const said = (delta: string): AgentEvent => ({ type: "text-delta", ...base, stepId, partIndex: 0, delta });
const start: AgentEvent = { type: "turn-start", ...base };
const called: AgentEvent = { type: "tool-call", ...call, partIndex: 1, input: {} };
const stepDone: AgentEvent = { type: "step-complete", ...base, stepId };
const waits: AgentEvent = {
  type: "status",
  conversationId: "c",
  status: "active",
  waiting: { turnId: "t", count: 1, kinds: ["approval"] },
};
const output: AgentEvent = { type: "tool-output", ...call, data: "...", stream: "stdout" };
const result: AgentEvent = { type: "tool-result", ...call, content: "paid", isError: false };
const sealed: AgentEvent = { type: "turn-sealed", ...base, firstSeq: 1, lastSeq: 4, reason: "stop" };
const firstPass = [start, said("I "), said("pay."), called, stepDone, waits];

/** A client whose calls of `chat` give these events, one list after the other. */
function clientOf(...passes: (readonly (AgentEvent | Error)[])[]): ParleyClient {
  let pass = 0;
  return {
    async *chat() {
      for (const event of passes[pass++] ?? []) {
        if (event instanceof Error) throw event;
        yield event;
      }
    },
  } as unknown as ParleyClient;
}

const context = { io: { note: () => {} } as never, signal: new AbortController().signal };

async function eventsOf(client: ParleyClient, settle: (id: string) => Promise<boolean>) {
  const events: { readonly type: string }[] = [];
  for await (const event of turnEvents(client, { message: "?" }, context, settle)) events.push(event);
  return events;
}

describe("the events of a turn that waits", () => {
  it("go on after a decision without those that were given before", async () => {
    // The second time the text comes in one piece, as it was committed.
    const secondPass = [start, said("I pay."), called, stepDone, output, result, sealed];
    const asked: string[] = [];
    const events = await eventsOf(clientOf(firstPass, secondPass), async (id) => {
      asked.push(id);
      return true;
    });
    expect(asked).toEqual(["c"]);
    expect(events).toEqual([...firstPass, output, result, sealed]);
  });

  it("end when it is left waiting", async () => {
    expect(await eventsOf(clientOf(firstPass), async () => false)).toEqual(firstPass);
  });

  it("are replayed from the start when the connection broke", async () => {
    const broken = new ParleyRequestError("network", "cut", { retryable: true });
    const events = await eventsOf(
      clientOf([start, said("I "), broken], [start, said("I pay."), sealed]),
      async () => true,
    );
    expect(events).toEqual([start, said("I "), { type: "again" }, start, said("I pay."), sealed]);
  });
});
