import { isParleyError } from "@parley/core/errors";
import { validateRequest } from "@parley/testing/anthropic";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rawArgumentsField } from "../anthropic/index.js";
import { Transcript, TranscriptMessage } from "./index.js";

const call = (id: string, name = "search", text = "{}") => ({ id, name, arguments: text });

describe("a transcript", () => {
  it("is made with a system message", () => {
    const transcript = Transcript.withSystem("You are a helpful assistant.");
    expect(transcript.length).toBe(1);
    expect(transcript.isEmpty).toBe(false);
    expect(transcript.systemMessage).toBeDefined();
    expect(new Transcript().isEmpty).toBe(true);
  });

  it("has constructors for every kind of message", () => {
    const system = TranscriptMessage.system("system");
    expect(system.role).toBe("system");
    expect(system.content).toBe("system");
    expect(TranscriptMessage.user("hello").role).toBe("user");
    expect(TranscriptMessage.assistant("hi there").role).toBe("assistant");
    const tool = TranscriptMessage.toolResult("call_1", "search", "results here");
    expect(tool.role).toBe("tool");
    expect(tool.toolCallId).toBe("call_1");
    expect(tool.toolName).toBe("search");
  });

  it("becomes OpenAI's messages, one for each", () => {
    const transcript = Transcript.withSystem("You are a test agent.");
    transcript.push(TranscriptMessage.user("Search for rust crates"));
    transcript.push(
      TranscriptMessage.assistantToolCalls([call("call_1", "web_search", '{"query":"rust crates"}')]),
    );
    transcript.push(TranscriptMessage.toolResult("call_1", "web_search", "Found: serde, tokio, reqwest"));
    transcript.push(TranscriptMessage.assistant("I found serde, tokio, and reqwest."));
    expect(transcript.toOpenAIMessages()).toEqual([
      { role: "system", content: "You are a test agent." },
      { role: "user", content: "Search for rust crates" },
      {
        role: "assistant",
        tool_calls: [
          {
            id: "call_1",
            type: "function",
            function: { name: "web_search", arguments: '{"query":"rust crates"}' },
          },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "Found: serde, tokio, reqwest" },
      { role: "assistant", content: "I found serde, tokio, and reqwest." },
    ]);
  });

  it("becomes Anthropic's messages with a separate system prompt", () => {
    const transcript = Transcript.withSystem("System prompt here.");
    transcript.push(TranscriptMessage.user("Hello"));
    transcript.push(TranscriptMessage.assistantToolCalls([call("tu_1", "calculator", '{"expr":"2+2"}')]));
    transcript.push(TranscriptMessage.toolResult("tu_1", "calculator", "4"));
    transcript.push(TranscriptMessage.assistant("The result is 4."));
    expect(transcript.toAnthropicMessages()).toEqual({
      system: "System prompt here.",
      messages: [
        { role: "user", content: "Hello" },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "tu_1", name: "calculator", input: { expr: "2+2" } }],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "tu_1", content: "4" }] },
        { role: "assistant", content: "The result is 4." },
      ],
      problems: [],
    });
  });

  it("estimates the tokens of a message", () => {
    // 13 bytes * 10 / 33 = 3, and 7 for the message.
    expect(TranscriptMessage.user("Hello, world!").estimateTokens()).toBe(10);
    // 3 bytes each: 6 * 10 / 33 = 1.
    expect(TranscriptMessage.user("日本").estimateTokens()).toBe(8);
    // 1 + 4 + 2 + 30 = 37 bytes of a call, 11 tokens.
    expect(TranscriptMessage.assistantToolCalls([call("1", "name")]).estimateTokens()).toBe(18);
    // 2 + 1 + 20 = 23 bytes of a result, 6 tokens.
    expect(TranscriptMessage.toolResult("1", "name", "ok").estimateTokens()).toBe(13);
  });

  it("estimates the tokens of all messages", () => {
    const transcript = Transcript.withSystem("Be helpful.");
    transcript.push(TranscriptMessage.user("Hi"));
    transcript.push(TranscriptMessage.assistant("Hello!"));
    const each = transcript.messages.map((message) => message.estimateTokens());
    expect(transcript.estimateTokens()).toBe(each.reduce((total, tokens) => total + tokens));
    expect(transcript.estimateTokens()).toBeGreaterThan(0);
  });

  it("is truncated to a budget and keeps its system message", () => {
    const transcript = Transcript.withSystem("sys");
    for (let i = 0; i < 20; i += 1) {
      transcript.push(TranscriptMessage.user(`Message number ${i} with some extra text to take up tokens`));
      transcript.push(TranscriptMessage.assistant(`Reply ${i}`));
    }
    const before = transcript.length;
    expect(before).toBeGreaterThan(10);
    transcript.truncateToBudget(100);
    expect(transcript.length).toBeLessThan(before);
    expect(transcript.messages[0]?.role).toBe("system");
    expect(transcript.estimateTokens()).toBeLessThanOrEqual(100);
    expect(transcript.lastAssistantMessage?.content).toBe("Reply 19");
  });

  it("has metadata for a log", () => {
    const transcript = Transcript.withSystem("sys");
    transcript.push(TranscriptMessage.user("hi"));
    transcript.push(TranscriptMessage.assistantToolCalls([call("c1", "t1"), call("c2", "t2")]));
    transcript.push(TranscriptMessage.toolResult("c1", "t1", "ok"));
    transcript.push(TranscriptMessage.toolResult("c2", "t2", "ok"));
    expect(transcript.metadata()).toEqual({
      message_count: "5",
      estimated_tokens: String(transcript.estimateTokens()),
      has_system: "true",
      tool_call_count: "2",
      tool_result_count: "2",
    });
  });

  it("returns its last assistant message", () => {
    const transcript = new Transcript();
    expect(transcript.lastAssistantMessage).toBeUndefined();
    transcript.push(TranscriptMessage.user("hi"));
    transcript.push(TranscriptMessage.assistant("first"));
    transcript.push(TranscriptMessage.user("more"));
    transcript.push(TranscriptMessage.assistant("second"));
    expect(transcript.lastAssistantMessage?.content).toBe("second");
  });

  it("inserts knowledge after the system message", () => {
    const transcript = Transcript.withSystem("You are helpful.");
    transcript.push(TranscriptMessage.user("hello"));
    transcript.injectKnowledgeContext("Some knowledge here");
    expect(transcript.messages.map(({ role, content }) => [role, content])).toEqual([
      ["system", "You are helpful."],
      ["system", "[KNOWLEDGE_CONTEXT]\nSome knowledge here"],
      ["user", "hello"],
    ]);
  });

  it("replaces the previous knowledge", () => {
    const transcript = Transcript.withSystem("System prompt");
    transcript.injectKnowledgeContext("First knowledge");
    transcript.injectKnowledgeContext("Updated knowledge");
    const known = transcript.messages.filter(({ content }) => content.includes("[KNOWLEDGE_CONTEXT]"));
    expect(known).toHaveLength(1);
    expect(known[0]?.content).toContain("Updated knowledge");
  });

  it("inserts knowledge at the start if there is no system message", () => {
    const transcript = new Transcript();
    transcript.push(TranscriptMessage.user("hello"));
    transcript.injectKnowledgeContext("Knowledge without system");
    expect(transcript.length).toBe(2);
    expect(transcript.messages[0]?.content).toContain("[KNOWLEDGE_CONTEXT]");
    expect(transcript.messages[1]?.role).toBe("user");
  });

  it("survives being stored", () => {
    const transcript = Transcript.withSystem("test");
    transcript.push(TranscriptMessage.user("hello"));
    transcript.push(TranscriptMessage.assistantToolCalls([call("tc1", "search", '{"q":"test"}')]));
    const restored = Transcript.fromJSON(JSON.stringify(transcript));
    expect(restored.length).toBe(transcript.length);
    expect(restored.messages[2]?.toolCalls[0]?.name).toBe("search");
    expect(restored.toJSON()).toEqual(transcript.toJSON());
  });
});

describe("the stored form", () => {
  it("has the names of its fields and omits empty ones", () => {
    const transcript = new Transcript([
      TranscriptMessage.user("hi"),
      TranscriptMessage.assistantToolCalls([call("c1")]),
      TranscriptMessage.toolResult("c1", "search", "x"),
      TranscriptMessage.toolResult("c2", "search", "x", { isError: true }),
    ]);
    expect(JSON.stringify(transcript)).toBe(
      '{"messages":[{"role":"user","content":"hi"},' +
        '{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"search","arguments":"{}"}]},' +
        '{"role":"tool","content":"x","tool_call_id":"c1","tool_name":"search"},' +
        '{"role":"tool","content":"x","tool_call_id":"c2","tool_name":"search","is_error":true}]}',
    );
  });

  it("treats null as absent and ignores unknown fields", () => {
    const stored = { messages: [{ role: "user", content: "x", tool_call_id: null, extra: 1 }] };
    expect(Transcript.fromJSON(stored).messages[0]?.toolCallId).toBeUndefined();
  });

  it.each([
    "not json",
    "[]",
    '{"messages":1}',
    '{"messages":[1]}',
    '{"messages":[{"role":"robot","content":"x"}]}',
    '{"messages":[{"role":"user"}]}',
    '{"messages":[{"role":"assistant","content":"","tool_calls":{}}]}',
    '{"messages":[{"role":"assistant","content":"","tool_calls":[{"id":"x"}]}]}',
    '{"messages":[{"role":"tool","content":"","tool_call_id":1}]}',
    '{"messages":[{"role":"assistant","content":"","parts":[],"origin":{}}]}',
  ])("is refused if it is invalid: %s", (stored) => {
    expect(() => Transcript.fromJSON(stored)).toThrow(
      expect.toSatisfy((error) => isParleyError(error) && error.code === "invalid_request"),
    );
  });
});

describe("Anthropic's form", () => {
  const lower = (...messages: TranscriptMessage[]) => new Transcript(messages).toAnthropicMessages();

  it("merges adjacent messages of one side, with all results first and the text after them", () => {
    const { messages } = lower(
      TranscriptMessage.user("a"),
      TranscriptMessage.user("b"),
      TranscriptMessage.assistantToolCalls([call("c1"), call("c2")], "I look."),
      TranscriptMessage.toolResult("c1", "search", "one"),
      TranscriptMessage.user("steer"),
      TranscriptMessage.toolResult("c2", "search", "two", { isError: true }),
    );
    expect(messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look." },
          { type: "tool_use", id: "c1", name: "search", input: {} },
          { type: "tool_use", id: "c2", name: "search", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1", content: "one" },
          { type: "tool_result", tool_use_id: "c2", content: "two", is_error: true },
          { type: "text", text: "steer" },
        ],
      },
    ]);
  });

  it("reports arguments that are not JSON, and passes their text on", () => {
    const { messages, problems } = lower(
      TranscriptMessage.user("a"),
      TranscriptMessage.assistantToolCalls([call("c1", "search", '{"q": "ha')]),
      TranscriptMessage.toolResult("c1", "search", "bad arguments"),
    );
    expect(messages[1]?.content).toEqual([
      { type: "tool_use", id: "c1", name: "search", input: { [rawArgumentsField]: '{"q": "ha' } },
    ]);
    expect(problems).toEqual([
      {
        kind: "malformed-arguments",
        toolCallId: "c1",
        toolName: "search",
        argumentsText: '{"q": "ha',
      },
    ]);
  });

  it("keeps every system message: leading ones as the prompt, later ones in their place", () => {
    const transcript = Transcript.withSystem("One.");
    transcript.push(TranscriptMessage.user("hi"));
    transcript.injectKnowledgeContext("Two.");
    transcript.push(TranscriptMessage.system("Three."));
    const { system, messages } = transcript.toAnthropicMessages();
    expect(system).toBe("One.\n\n[KNOWLEDGE_CONTEXT]\nTwo.");
    expect(JSON.stringify(messages)).toContain("Three.");
    expect(new Transcript().toAnthropicMessages()).toEqual({ system: undefined, messages: [], problems: [] });
  });

  it("keeps the order of thinking, text and calls, for the model that made them", () => {
    const origin = { provider: "anthropic", model: "claude-opus-5" };
    const said = TranscriptMessage.assistantParts(
      [
        { type: "reasoning", text: "first", providerMetadata: { anthropic: { signature: "S1" } } },
        { type: "text", text: "I look." },
        { type: "reasoning", text: "then", providerMetadata: { anthropic: { signature: "S2" } } },
        { type: "tool-call", name: "search", arguments: {}, argumentsText: "{}", toolCallId: "c1" },
      ],
      origin,
    );
    const transcript = Transcript.fromJSON(
      JSON.stringify(
        new Transcript([
          TranscriptMessage.user("a"),
          said,
          TranscriptMessage.toolResult("c1", "search", "x"),
        ]),
      ),
    );
    const kinds = (reader?: typeof origin) => {
      const content = transcript.toAnthropicMessages(reader).messages[1]?.content;
      return Array.isArray(content) ? content.map(({ type }: { type: string }) => type) : content;
    };
    expect(kinds(origin)).toEqual(["thinking", "text", "thinking", "tool_use"]);
    expect(kinds()).toEqual(["text", "tool_use"]);
    expect(transcript.messages[1]?.content).toBe("I look.");
    expect(transcript.messages[1]?.toolCalls).toEqual([call("c1")]);
    expect(said.estimateTokens()).toBeGreaterThan(
      TranscriptMessage.assistantToolCalls([call("c1")], "I look.").estimateTokens(),
    );
  });

  it("trims an answer that is to be continued, and starts with the user", () => {
    const { messages } = lower(TranscriptMessage.assistant("Once upon \n"));
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(messages[1]?.content).toBe("Once upon");
  });

  it("reports what it repaired", () => {
    const { problems } = lower(
      TranscriptMessage.user("a"),
      TranscriptMessage.toolResult("gone", "search", "x"),
      TranscriptMessage.assistantToolCalls([call("c1")]),
    );
    expect(problems).toMatchObject([
      { kind: "orphan-removed", toolCallId: "gone", messageId: "1" },
      { kind: "result-synthesized", toolCallId: "c1", messageId: "2" },
    ]);
  });
});

describe("OpenAI's form", () => {
  it("has one result after each call, and none that answers nothing", () => {
    const transcript = new Transcript([
      TranscriptMessage.toolResult("gone", "search", "x"),
      TranscriptMessage.assistantToolCalls([call("c1"), call("c2")]),
      TranscriptMessage.user("steer"),
      TranscriptMessage.toolResult("c2", "search", "two"),
    ]);
    const shape = transcript.toOpenAIMessages().map(({ role, tool_call_id: id }) => id ?? role);
    expect(shape).toEqual(["assistant", "c1", "c2", "user"]);
  });

  it("passes argument text on unchanged, and gives an empty answer its content", () => {
    const transcript = new Transcript([
      TranscriptMessage.assistantToolCalls([call("c1", "search", "{oops")]),
      TranscriptMessage.assistant(""),
    ]);
    const [first, , last] = transcript.toOpenAIMessages();
    expect(first?.tool_calls?.[0]?.function.arguments).toBe("{oops");
    expect(last).toEqual({ role: "assistant", content: "" });
  });
});

const word = fc.constantFrom("x", "a longer text with several words", "日本語".repeat(5), "");

/** Transcripts as agents produce them: turns of an input and steps with calls, results and steering. */
const healthy: fc.Arbitrary<Transcript> = fc
  .tuple(
    fc.constantFrom(0, 1, 2),
    fc.array(
      fc.tuple(
        word,
        fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), word, fc.boolean()), { maxLength: 4 }),
        fc.boolean(),
      ),
      { minLength: 1, maxLength: 5 },
    ),
  )
  .map(([systems, turns]) => {
    const messages = Array.from({ length: systems }, (_, n) => TranscriptMessage.system(`system ${n}`));
    for (const [input, steps, answered] of turns) {
      messages.push(TranscriptMessage.user(input));
      for (const [calls, result, steered] of steps) {
        // Ids repeat in every step, as with some providers.
        const made = Array.from({ length: calls }, (_, n) => call(`call_${n}`));
        messages.push(TranscriptMessage.assistantToolCalls(made, "working"));
        for (const [n, { id, name }] of made.entries()) {
          if (steered && n === 1) messages.push(TranscriptMessage.user("steer"));
          if (steered && n === 2) messages.push(TranscriptMessage.assistant("meanwhile"));
          messages.push(TranscriptMessage.toolResult(id, name, result));
        }
      }
      if (answered) messages.push(TranscriptMessage.assistant("answer"));
    }
    return new Transcript(messages);
  });

describe("truncation", () => {
  it("never separates a call from its result, whatever the budget", () => {
    fc.assert(
      fc.property(healthy, fc.integer({ min: 0, max: 400 }), (transcript, budget) => {
        transcript.truncateToBudget(budget);
        const { problems } = transcript.toAnthropicMessages();
        const lost = problems.filter(({ kind }) => kind !== "result-moved");
        expect(lost).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("keeps the instructions and the newest input, and reports what it dropped", () => {
    fc.assert(
      fc.property(healthy, fc.integer({ min: 0, max: 400 }), (transcript, budget) => {
        const before = [...transcript.messages];
        const { kept, dropped, tokens, fits } = transcript.truncateToBudget(budget);
        expect(transcript.messages).toEqual(kept);
        expect([...kept, ...dropped].sort(byPlace(before))).toEqual(before);
        expect(kept).toEqual([...kept].sort(byPlace(before)));
        expect(tokens).toBe(transcript.estimateTokens());
        expect(fits).toBe(tokens <= budget);
        const others = before.filter(({ role }) => role === "user");
        expect(kept).toContain(others.at(-1));
        expect(kept.filter(({ role }) => role === "system")).toEqual(
          before.filter(({ role }) => role === "system"),
        );
      }),
      { numRuns: 500 },
    );
  });

  it("keeps no less with a larger budget", () => {
    fc.assert(
      fc.property(healthy, fc.nat(400), fc.nat(400), (transcript, one, other) => {
        const stored = transcript.toJSON();
        const kept = (budget: number) => Transcript.fromJSON(stored).truncateToBudget(budget).kept.length;
        expect(kept(Math.max(one, other))).toBeGreaterThanOrEqual(kept(Math.min(one, other)));
      }),
      { numRuns: 300 },
    );
  });

  it("cuts a turn that is too long at its steps, from the oldest", () => {
    const messages = [TranscriptMessage.system("sys"), TranscriptMessage.user("do it")];
    for (let n = 0; n < 6; n += 1) {
      messages.push(TranscriptMessage.assistantToolCalls([call(`c${n}`)]));
      messages.push(TranscriptMessage.toolResult(`c${n}`, "search", `result ${n}`));
    }
    const transcript = new Transcript(messages);
    const { fits } = transcript.truncateToBudget(120);
    expect(fits).toBe(true);
    expect(transcript.messages.map(({ role }) => role).slice(0, 3)).toEqual(["system", "user", "assistant"]);
    expect(transcript.messages.at(-1)?.content).toBe("result 5");
    expect(transcript.length).toBeGreaterThan(4);
    expect(transcript.length).toBeLessThan(messages.length);
  });

  it("keeps a call with a late result, and everything between them", () => {
    const transcript = new Transcript([
      TranscriptMessage.user("do it"),
      TranscriptMessage.assistantToolCalls([call("c1")]),
      TranscriptMessage.assistant("meanwhile"),
      TranscriptMessage.toolResult("c1", "search", "late"),
    ]);
    expect(transcript.truncateToBudget(1).fits).toBe(false);
    expect(transcript.length).toBe(4);
  });

  it("treats steering before the results as part of the turn", () => {
    const transcript = new Transcript([
      TranscriptMessage.user("old"),
      TranscriptMessage.assistant("answer"),
      TranscriptMessage.user("do it"),
      TranscriptMessage.assistantToolCalls([call("c1")]),
      TranscriptMessage.user("steer"),
      TranscriptMessage.toolResult("c1", "search", "result"),
    ]);
    transcript.truncateToBudget(1);
    expect(transcript.messages.map(({ content }) => content)).toEqual(["do it", "", "steer", "result"]);
  });

  it("cuts the turn before an unanswered input at its steps too", () => {
    const transcript = new Transcript([
      TranscriptMessage.user("do it"),
      TranscriptMessage.assistantToolCalls([call("c1")]),
      TranscriptMessage.toolResult("c1", "search", "x".repeat(500)),
      TranscriptMessage.assistant("done"),
      TranscriptMessage.user("thanks"),
    ]);
    transcript.truncateToBudget(60);
    expect(transcript.messages.map(({ content }) => content)).toEqual(["do it", "done", "thanks"]);
  });

  it("keeps the input even if it alone is too long, and reports that it does not fit", () => {
    const transcript = Transcript.withSystem("sys");
    transcript.push(TranscriptMessage.user("old"));
    transcript.push(TranscriptMessage.assistant("answer"));
    transcript.push(TranscriptMessage.user("x".repeat(1_000)));
    const { fits, dropped } = transcript.truncateToBudget(50);
    expect(fits).toBe(false);
    expect(dropped.map(({ content }) => content)).toEqual(["old", "answer"]);
    expect(transcript.length).toBe(2);
  });

  it("leaves a transcript that fits unchanged", () => {
    const transcript = Transcript.withSystem("sys");
    transcript.push(TranscriptMessage.user("hi"));
    expect(transcript.truncateToBudget(16)).toMatchObject({ dropped: [], fits: true });
    expect(transcript.length).toBe(2);
  });
});

describe("any transcript", () => {
  const text = fc.oneof(word, fc.string({ unit: "binary", maxLength: 6 }));
  const id = fc.constantFrom("c1", "c2", "a.b", "");
  const anyMessage = fc.oneof(
    text.map((content) => TranscriptMessage.system(content)),
    text.map((content) => TranscriptMessage.user(content)),
    text.map((content) => TranscriptMessage.assistant(content)),
    fc.tuple(fc.array(fc.tuple(id, text), { maxLength: 3 }), text).map(([calls, content]) =>
      TranscriptMessage.assistantToolCalls(
        calls.map(([each, given]) => call(each, "search", given)),
        content,
      ),
    ),
    fc
      .tuple(id, text, fc.boolean())
      .map(([each, content, isError]) => TranscriptMessage.toolResult(each, "search", content, { isError })),
  );

  it("lowers to messages that the API accepts, truncated or not", () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 8 }), fc.option(fc.nat(120)), (messages, budget) => {
        const transcript = new Transcript(messages);
        if (budget !== null) transcript.truncateToBudget(budget);
        const { system, messages: lowered } = transcript.toAnthropicMessages();
        const problems = validateRequest({
          model: "m",
          max_tokens: 1,
          tools: [{ name: "search", input_schema: { type: "object" } }],
          messages: lowered,
          ...(system === undefined ? {} : { system }),
        });
        const open = ["must end with the user", "must not be empty"];
        expect(problems.filter(({ problem }) => !open.includes(problem))).toEqual([]);
      }),
      { numRuns: 800 },
    );
  });

  it("survives being stored", () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 6 }), (messages) => {
        const transcript = new Transcript(messages);
        expect(Transcript.fromJSON(JSON.stringify(transcript)).toJSON()).toEqual(transcript.toJSON());
      }),
    );
  });
});

function byPlace(order: readonly TranscriptMessage[]) {
  return (left: TranscriptMessage, right: TranscriptMessage) => order.indexOf(left) - order.indexOf(right);
}
