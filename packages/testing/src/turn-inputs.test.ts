import { askUserTool, type Tool } from "@parley/core";
import { type ConversationMessage, inputEntryOfMessage, sha256 } from "@parley/core/messages";
import {
  runTurn,
  type StepCommit,
  type StepCommitted,
  type TurnInputs,
  type TurnOutcome,
  type TurnSetup,
} from "@parley/core/turn";
import type { AgentEvent, InputResponseEntry } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { createCountingIds } from "./counting-ids.js";
import { gate } from "./gate.js";
import { text, toolCall } from "./provider/script.js";
import { createScriptedProvider } from "./provider/scripted-provider.js";

const conversationId = "c";
const opening: ConversationMessage = {
  id: "u",
  conversationId,
  role: "user",
  createdAt: new Date(0),
  content: [{ type: "text", text: "go" }],
};

function respond(
  requestId: string,
  decision: string,
  more: Partial<InputResponseEntry> = {},
): InputResponseEntry {
  const about = { toolCallId: "", toolName: "pay", by: { owner: "ann" } };
  return { type: "input-response", requestId, ...about, decision, via: "http", ...more };
}

async function drive(
  setup: TurnSetup,
  events: AgentEvent[],
  onEvent: (event: AgentEvent) => Promise<void> | undefined = () => undefined,
): Promise<TurnOutcome> {
  const turn = runTurn(setup);
  for (;;) {
    const next = await turn.next();
    if (next.done) return next.value;
    events.push(next.value);
    await onEvent(next.value);
  }
}

/** Runs a turn whose commits are kept, and answered by `onCommit`. */
function play(options: {
  readonly script: Parameters<typeof createScriptedProvider>[0];
  readonly tools: readonly Tool<never>[];
  readonly inputs?: TurnInputs;
  readonly onCommit?: (commit: StepCommit) => StepCommitted | undefined;
  readonly resume?: TurnSetup["resume"];
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: AgentEvent) => Promise<void> | undefined;
}) {
  const commits: StepCommit[] = [];
  const events: AgentEvent[] = [];
  const outcome = drive(
    {
      conversationId,
      turnId: "t",
      provider: createScriptedProvider(options.script),
      providerParams: { metadata: { provider: "test", model: "m" } },
      tools: options.tools,
      userMessages: [opening],
      context: async () => ({ messages: [] }),
      ids: createCountingIds("m"),
      sink: {
        commitStep: async (commit) => {
          commits.push(commit);
          return options.onCommit?.(commit) ?? {};
        },
      },
      ...(options.inputs === undefined ? {} : { inputs: options.inputs }),
      ...(options.resume === undefined ? {} : { resume: options.resume }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    },
    events,
    options.onEvent,
  );
  return { outcome, commits, events };
}

const paid: string[] = [];
const pay: Tool<{ amount: number }> = {
  name: "pay",
  schema: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  approval: "always",
  execute: ({ amount }) => {
    paid.push(String(amount));
    return `paid ${amount}`;
  },
};
const time: Tool<never> = { name: "time", execute: () => "noon" };

function results(messages: readonly ConversationMessage[]): string[] {
  return messages.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === "tool-result" ? [String(part.resultText)] : [])),
  );
}

describe("a turn that cannot wait", () => {
  const script = [[toolCall("pay", { amount: 3 })], [text("done")]];

  it("denies a call that needs a decision where no approver is available", async () => {
    paid.length = 0;
    const { outcome } = play({ script, tools: [pay as Tool<never>] });
    expect(results((await outcome).messages)).toEqual([
      "This call needs a person's approval, but no approver is available. It was not run.",
    ]);
    expect(paid).toEqual([]);
  });

  it("asks `approve` with what the model wrote, and runs what it allows", async () => {
    paid.length = 0;
    const asked: unknown[] = [];
    const { outcome } = play({
      script: [[toolCall("pay", '{"amount": 3.0}'), toolCall("pay", "{}"), toolCall("time")], [text("done")]],
      tools: [pay as Tool<never>, time],
      inputs: {
        approve: ({ argumentsText, toolName, kind }) => {
          asked.push([kind, toolName, argumentsText]);
          return { decision: "allow", arguments: { amount: 2 } };
        },
      },
    });
    const given = results((await outcome).messages);
    expect(given[0]).toBe('The user changed the arguments of this call to {"amount":2}\n\npaid 2');
    expect(given[1]).toContain("its arguments are not valid");
    expect(given[2]).toBe("noon");
    expect(asked).toEqual([["approval", "pay", '{"amount": 3.0}']]);
    expect(paid).toEqual(["2"]);
  });

  it("denies with the note, and where `approve` fails or answers something else", async () => {
    const answers = [
      { decision: "deny", note: "too much" } as const,
      { decision: "answer", value: 1 } as const,
    ];
    const { outcome } = play({
      script: [
        [toolCall("pay", { amount: 3 })],
        [toolCall("pay", { amount: 3 })],
        [toolCall("pay", { amount: 3 })],
        [],
      ],
      tools: [pay as Tool<never>],
      inputs: {
        approve: () => {
          const answer = answers.shift();
          if (answer === undefined) throw new Error("no line");
          return answer;
        },
      },
    });
    expect(results((await outcome).messages)).toEqual([
      "The user denied this call. It was not run. They said: too much",
      "This call needs a person's approval, but no approver is available. It was not run.",
      "The approval of this call failed: no line. It was not run.",
    ]);
  });

  it("is stopped while it asks", async () => {
    const abort = new AbortController();
    const { outcome } = play({
      script,
      tools: [pay as Tool<never>],
      signal: abort.signal,
      inputs: {
        approve: () => {
          abort.abort();
          return new Promise(() => {});
        },
      },
    });
    const { reason, messages } = await outcome;
    expect([reason, results(messages)]).toEqual([
      "aborted",
      ["The turn was stopped before anyone decided on this call. It was not run."],
    ]);
  });

  it("asks a question and checks the answer", async () => {
    const values: unknown[] = ["blue", "green"];
    const question = toolCall("ask_user", { question: "Which?", options: ["red", "green"] });
    const { outcome } = play({
      script: [[question], [question], []],
      tools: [askUserTool as Tool<never>],
      inputs: { approve: () => ({ decision: "answer", value: values.shift() as string }) },
    });
    const [first, second] = results((await outcome).messages);
    expect(first).toContain("does not have the form that was asked for");
    expect(second).toBe("green");
  });

  it("leaves declared tools to its caller and runs its own in the same step", async () => {
    const provider = createScriptedProvider([[toolCall("time"), toolCall("theirs")]]);
    const commits: StepCommit[] = [];
    const outcome = await drive(
      {
        conversationId,
        turnId: "t",
        provider,
        providerParams: { metadata: { provider: "test", model: "m" }, tools: [{ name: "theirs" }] },
        tools: [time],
        userMessages: [opening],
        context: async () => ({ messages: [] }),
        sink: {
          commitStep: async (commit) => {
            commits.push(commit);
            return {};
          },
        },
      },
      [],
    );
    expect(outcome.reason).toBe("tool-calls");
    expect(results(outcome.messages)).toEqual(["noon"]);
    expect(commits.map(({ phase }) => phase)).toEqual(["generation", "results"]);
  });
});

describe("a turn that can wait", () => {
  it("commits the request with the answer and waits at once where nothing else runs", async () => {
    paid.length = 0;
    const { outcome, commits } = play({
      script: [[toolCall("pay", '{"amount": 3.0}', { id: "a" })]],
      tools: [pay as Tool<never>],
      inputs: { listen: () => () => {}, expiresMs: 5 },
      onCommit: ({ wait }) => ({ waiting: wait === true }),
    });
    expect((await outcome).state).toBe("waiting");
    const [commit] = commits;
    expect(commit?.wait).toBe(true);
    expect(commit?.messages.map((message) => inputEntryOfMessage(message)?.type)).toEqual([
      undefined,
      "input-request",
    ]);
    expect(commit?.inputs).toMatchObject([
      {
        requestId: "t.0.0",
        kind: "approval",
        toolCallId: "a",
        argumentsText: '{"amount": 3.0}',
        argumentsHash: sha256('{"amount": 3.0}'),
        expiresMs: 5,
      },
    ]);
    expect(paid).toEqual([]);
  });

  it("runs what needs no decision meanwhile, and a call that is decided while others run", async () => {
    paid.length = 0;
    const slow = gate();
    const waits: Tool<never> = {
      name: "slow",
      execute: async () => {
        await slow.wait();
        return "slow";
      },
    };
    let decide: (response: InputResponseEntry) => void = () => {};
    const { outcome, commits, events } = play({
      script: [
        [
          toolCall("pay", { amount: 1 }),
          toolCall("slow"),
          toolCall("pay", { amount: 2 }),
          toolCall("nothing"),
        ],
        [text("done")],
      ],
      tools: [pay as Tool<never>, waits],
      inputs: {
        listen: (onResponse) => {
          decide = onResponse;
          return () => {};
        },
      },
      onCommit: ({ wait, phase }) =>
        wait === true
          ? { responses: [respond("t.0.0", "deny", { note: "no" })] }
          : phase === "results"
            ? {}
            : {},
    });
    await slow.reached;
    decide(respond("t.0.2", "allow"));
    slow.open();
    const { reason, messages } = await outcome;
    expect(reason).toBe("stop");
    expect(paid).toEqual(["2"]);
    // The result of the second call is committed with the waiting one; the first was decided before the turn could
    // wait.
    expect(commits.map(({ phase, wait = false, messages: of }) => [phase, wait, results(of).length])).toEqual(
      [
        ["generation", false, 0],
        ["results", true, 3],
        ["results", false, 1],
      ],
    );
    expect(results(messages).at(-1)).toBe("The user denied this call. It was not run. They said: no");
    const responses = events.filter(({ type }) => type === "input-response");
    expect(responses).toHaveLength(2);
    const order = messages.map((message) => inputEntryOfMessage(message)?.requestId ?? message.role);
    expect(order).toEqual([
      "assistant",
      "t.0.0",
      "t.0.2",
      "t.0.2",
      "tool",
      "tool",
      "tool",
      "t.0.0",
      "tool",
      "assistant",
    ]);
  });

  it("runs an approved call with the changed arguments, and not with a tool that has changed", async () => {
    paid.length = 0;
    const asked = async (tool: Tool<never>) => {
      const { outcome, commits } = play({
        script: [[toolCall("pay", { amount: 1 }, { id: "a" })]],
        tools: [pay as Tool<never>],
        inputs: { listen: () => () => {} },
        onCommit: ({ wait }) => ({ waiting: wait === true }),
      });
      const { messages, metrics } = await outcome;
      const [assistant] = messages;
      const call = assistant?.content.find((part) => part.type === "tool-call");
      const request = commits[0]?.inputs?.[0];
      if (call === undefined || request === undefined) throw new TypeError("no call");
      const response = respond(request.requestId, "allow", { argumentsText: '{"amount": 7.0}' });
      const resumed = play({
        script: [[text("done")]],
        tools: [tool],
        inputs: { listen: () => () => {} },
        resume: {
          stepIndex: 0,
          messages,
          steps: metrics.steps,
          pendingCalls: [call],
          asked: new Map([[call, { request, response, isLogged: true }]]),
          elapsedMs: 1_000,
          waitedMs: 900,
        },
      });
      return resumed.outcome;
    };
    const outcome = await asked(pay as Tool<never>);
    expect(results(outcome.messages)).toEqual([
      'The user changed the arguments of this call to {"amount": 7.0}\n\npaid 7',
    ]);
    expect(outcome.metrics.waitedMs).toBe(900);
    const changed = await asked({ ...pay, description: "Pays twice" } as Tool<never>);
    expect(results(changed.messages)[0]).toContain('"pay" has changed or is gone');
    expect(paid).toEqual(["7"]);
  });

  it("answers what is undecided when it is stopped, with a response in the log", async () => {
    const abort = new AbortController();
    const never: Tool<never> = {
      name: "never",
      execute: () => {
        abort.abort();
        return new Promise(() => {});
      },
    };
    const { outcome, events } = play({
      script: [[toolCall("pay", { amount: 1 }), toolCall("never")]],
      tools: [pay as Tool<never>, never],
      inputs: { listen: () => () => {} },
      signal: abort.signal,
    });
    const { reason, uncommitted } = await outcome;
    expect(reason).toBe("aborted");
    expect(results(uncommitted)).toEqual([
      "This call was not approved before the turn was stopped. It was not run.",
      "The call was interrupted before it had a result.",
    ]);
    const response = events.find((event) => event.type === "input-response");
    expect(response?.type === "input-response" ? response.input : undefined).toMatchObject({
      decision: "deny",
      via: "stop",
    });
  });

  it("answers what is undecided when it is stopped behind the last call that ran", async () => {
    const stop = new AbortController();
    const setup = {
      script: [[toolCall("time"), toolCall("time"), toolCall("time"), toolCall("pay", { amount: 1 })]],
      tools: [pay as Tool<never>, time],
      inputs: { listen: () => () => {} },
      signal: stop.signal,
      // When the first result is read, nothing runs any more, and others are still to be read.
      onEvent: async ({ type }: AgentEvent) => {
        if (type !== "tool-result") return;
        await new Promise((resolve) => setImmediate(resolve));
        stop.abort();
      },
    };
    const { outcome } = play(setup);
    const { reason, messages } = await outcome;
    expect(reason).toBe("aborted");
    expect(results(messages)).toEqual([
      "noon",
      "noon",
      "noon",
      "This call was not approved before the turn was stopped. It was not run.",
    ]);
  });

  it("makes no request for a call that a standing approval covers", async () => {
    paid.length = 0;
    const seen: unknown[] = [];
    const { outcome } = play({
      script: [[toolCall("pay", { amount: 4 })], []],
      tools: [pay as Tool<never>],
      inputs: {
        listen: () => () => {},
        isGranted: async ({ arguments: given }) => {
          seen.push(given);
          return true;
        },
      },
    });
    expect((await outcome).reason).toBe("stop");
    expect([paid, seen]).toEqual([["4"], [{ amount: 4 }]]);
  });
});
