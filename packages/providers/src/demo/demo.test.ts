import { isParleyError } from "@parley/core/errors";
import type { ProviderCallParams, ProviderMessage, ProviderStreamEvent } from "@parley/core/ports";
import { providerContract } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { errandToolName, slowToolName } from "./compose.js";
import { DemoProviderAdapter, errand, slowTask } from "./index.js";

const user = (text: string): ProviderMessage => ({ role: "user", content: [{ type: "text", text }] });
const tools = ["current_time", "calculator", slowToolName, errandToolName, "ask_user"].map((name) => ({
  name,
}));
const request = (
  messages: ProviderMessage[],
  more: Partial<ProviderCallParams> = {},
): ProviderCallParams => ({
  messages,
  tools,
  metadata: { provider: "demo", model: "demo" },
  ...more,
});
const demo = () => new DemoProviderAdapter({ pace: "instant" });

const called = (name: string, toolCallId: string): ProviderMessage => ({
  role: "assistant",
  content: [{ type: "tool-call", name, toolCallId, arguments: {}, argumentsText: "{}" }],
});
const answered = (name: string, toolCallId: string, resultText: string): ProviderMessage => ({
  role: "tool",
  content: [{ type: "tool-result", name, toolCallId, result: resultText, resultText }],
});

async function textOf(params: ProviderCallParams): Promise<string> {
  const { message } = await demo().complete(params);
  return message.content.map((part) => (part.type === "text" ? String(part.text) : "")).join("");
}

describe("the demo model", () => {
  it("says what it is and what can be tried", async () => {
    const text = await textOf(request([user("hello there")]));
    expect(text).toContain("demo model");
    expect(text).toContain("not a language model");
    expect(text).toContain("steer");
  });

  it("names the files of a message, and takes neither their names nor their texts for words of the user", async () => {
    const files = [
      "[error.png, image/png, 2 KB] (not shown: it reads none)",
      "[a.pdf, application/pdf, 1.5 MB]\n\nhelp",
    ];
    const parts = files.map((text) => ({ type: "text", text }));
    const withWords = await textOf(
      request([{ role: "user", content: [{ type: "text", text: "Is this a cat?" }, ...parts] }]),
    );
    expect(withWords).toContain(
      "You attached `error.png, image/png, 2 KB`, `a.pdf, application/pdf, 1.5 MB`.",
    );
    expect(withWords).toContain('You wrote: "Is this a cat?"');
    const alone = await textOf(request([{ role: "user", content: parts }]));
    expect(alone).not.toContain("You wrote");
  });

  it("streams reasoning and text that add up to its message", async () => {
    const events: ProviderStreamEvent[] = [];
    for await (const event of await demo().completeStream(request([user("tell me something")])))
      events.push(event);
    const done = events.at(-1);
    if (done?.type !== "done") throw new Error("no done");
    const text = events.map((event) => (event.type === "delta" ? event.textDelta : "")).join("");
    const thought = events.map((event) => (event.type === "reasoning-delta" ? event.textDelta : "")).join("");
    expect(done.result.message.content).toEqual([
      { type: "reasoning", text: thought },
      { type: "text", text },
    ]);
    expect(done.result.usage?.outputTokens).toBeGreaterThan(10);
  });

  it("makes up data that matches what it is asked for", async () => {
    const schema = {
      type: "object",
      properties: {
        name: { type: "string", minLength: 6 },
        people: { type: "integer", minimum: 3 },
        tags: { type: "array", items: { enum: ["old", "new"] }, minItems: 2 },
        parent: { $ref: "#/$defs/place" },
      },
      required: ["name", "people", "tags"],
      $defs: { place: { type: "object", properties: { inside: { anyOf: [{ type: "null" }] } } } },
    };
    const text = await textOf(request([user("which city?")], { output: { name: "city", schema } }));
    expect(JSON.parse(text)).toEqual({
      name: "demo..",
      people: 3,
      tags: ["old", "old"],
      parent: { inside: null },
    });
  });

  it("calls a tool, and reports its result", async () => {
    const first = await demo().complete(request([user("what time is it in Tokyo?")]));
    expect(first.toolCalls).toMatchObject([{ name: "current_time", arguments: { timeZone: "Asia/Tokyo" } }]);
    expect(first.finishReason).toBe("tool-calls");
    const then = [
      user("what time is it in Tokyo?"),
      called("current_time", "1"),
      answered("current_time", "1", "noon"),
    ];
    expect(await textOf(request(then))).toContain("`current_time` says noon");
  });

  it("does both of two things that it was asked for, and puts the results into words", async () => {
    const asked = user("What time is it, and what is 17*23?");
    const { toolCalls } = await demo().complete(request([asked]));
    expect(toolCalls).toMatchObject([
      { name: "current_time", arguments: { timeZone: "UTC" } },
      { name: "calculator", arguments: { expression: "17*23" } },
    ]);
    const time = {
      iso: "2026-05-04T10:00:00.000Z",
      timeZone: "UTC",
      local: "Monday 4 May 2026 at 10:00:00 UTC",
    };
    const then = [
      asked,
      called("current_time", "1"),
      called("calculator", "2"),
      answered("current_time", "1", JSON.stringify(time)),
      answered("calculator", "2", JSON.stringify({ expression: "17*23", value: 391 })),
    ];
    const text = await textOf(request(then));
    expect(text).toContain("it is Monday 4 May 2026 at 10:00:00 UTC");
    expect(text).toContain("17×23 = 391");
    expect(text).not.toContain("{");
  });

  it("calculates with the calculator", async () => {
    const { toolCalls } = await demo().complete(request([user("please work out (3 + 4) * 12 for me")]));
    expect(toolCalls).toMatchObject([{ name: "calculator", arguments: { expression: "(3 + 4) * 12" } }]);
  });

  it("calls many tools in one step", async () => {
    const { toolCalls } = await demo().complete(request([user("use many tools")]));
    expect(toolCalls).toHaveLength(6);
    expect(new Set(toolCalls?.map((each) => each.id)).size).toBe(6);
  });

  it.each([
    ["ask me before you water the plants", ["water the plants"]],
    ["Please ask me before you delete the file and feed the cat!", ["delete the file", "feed the cat"]],
    ["ask me first", ["water the plants"]],
  ])("asks before it does something: %s", async (text, tasks) => {
    const { toolCalls } = await demo().complete(request([user(text)]));
    expect(toolCalls?.map(({ name, arguments: input }) => [name, input])).toEqual(
      tasks.map((task) => [errandToolName, { task }]),
    );
  });

  it.each([
    ["ask me tea or coffee", { question: "Tea or coffee?", options: ["tea", "coffee"] }],
    ["Ask me what time suits me.", { question: "What time suits you?" }],
    ["ask me my name", { question: "Your name?" }],
    ["ask me something", { question: "What shall I ask you about?", options: ["plants", "cats", "the sea"] }],
    ["ask me now or now", { question: "Now or now?" }],
  ])("asks a question: %s", async (text, input) => {
    const { toolCalls } = await demo().complete(request([user(text)]));
    expect(toolCalls).toMatchObject([{ name: "ask_user", arguments: input }]);
    expect(toolCalls?.[0]?.arguments).toEqual(input);
  });

  it("asks no question where it has no tool for that", async () => {
    const only = { tools: [{ name: "current_time" }] };
    const { toolCalls } = await demo().complete(request([user("ask me before you tell the time")], only));
    expect(toolCalls).toMatchObject([{ name: "current_time" }]);
  });

  it("obeys steering", async () => {
    const messages = [
      user("slow tool please"),
      called(slowToolName, "1"),
      answered(slowToolName, "1", "ok"),
      user("be brief"),
    ];
    expect(await textOf(request(messages))).toContain('You steered me while I was at work: "be brief"');
  });

  it("answers the newest question, not an older one", async () => {
    const messages = [
      user("what time is it?"),
      called("current_time", "1"),
      answered("current_time", "1", "noon"),
      { role: "assistant" as const, content: [{ type: "text", text: "It is noon." }] },
      user("hello"),
    ];
    expect(await textOf(request(messages))).toContain("demo model");
  });

  it("fails when it is asked to, after it began to speak", async () => {
    const events: ProviderStreamEvent[] = [];
    for await (const event of await demo().completeStream(request([user("give me an error")])))
      events.push(event);
    expect(events.some((event) => event.type === "delta")).toBe(true);
    expect(events.at(-1)).toMatchObject({
      type: "error",
      error: { code: "provider_overloaded", retryable: true },
    });
  });

  it("sums up for a compaction and names a conversation", async () => {
    const text =
      "The conversation to add:\nuser: I like green\n\nassistant: Noted\n\nWrite the whole memory now.";
    const purpose = (name: string) => ({
      metadata: { provider: "demo", model: "demo", extensions: { "parley.purpose": name } },
    });
    expect(await textOf(request([user(text)], purpose("compaction")))).toBe(
      "- user: I like green\n- assistant: Noted",
    );
    expect(
      await textOf(request([user("user: how do I grow tomatoes in a small flat?")], purpose("title"))),
    ).toBe("how do I grow tomatoes in");
  });

  it("stops at once when it is aborted, at any pace", async () => {
    const abort = new AbortController();
    const stream = await new DemoProviderAdapter({ seed: 7 }).completeStream(
      request([user("a long answer please")], { signal: abort.signal }),
    );
    for await (const event of stream)
      if (event.type === "delta" || event.type === "reasoning-delta") abort.abort();
    await expect(stream.final).rejects.toSatisfy(
      (error) => isParleyError(error) && error.code === "canceled",
    );
  });

  it("says the same for the same request", async () => {
    const params = request([user("a long answer please")]);
    expect((await demo().complete(params)).message).toEqual((await demo().complete(params)).message);
  });
});

describe("the demo model as a provider", () => {
  const asks = {
    text: "tell me something",
    tools: "use many tools",
    reasoning: "hm",
    breaking: "an error please",
  };
  const cases = providerContract(
    (scenario) => ({ provider: demo(), params: request([user(asks[scenario as keyof typeof asks])]) }),
    { without: ["refusing", "hanging"] },
  );
  it.each(cases)("$name", ({ run }) => run());
});

describe("the errand", () => {
  it("asks each time, and pretends to do what was allowed", () => {
    const tool = errand();
    expect(tool.approval()).toEqual({ approval: "always", reason: "You wanted to be asked first." });
    expect(tool.execute({ task: "feed the cat" })).toContain("feed the cat");
  });
});

describe("the slow task", () => {
  it("reports each step and ends when it is aborted", async () => {
    const outputs: string[] = [];
    const output = (data: string) => outputs.push(data);
    const quick = slowTask({ stepMs: 0 });
    expect(await quick.execute({ steps: 2 }, { signal: new AbortController().signal, output })).toBe(
      "finished 2 steps",
    );
    expect(outputs).toEqual(["step 1 of 2 done\n", "step 2 of 2 done\n"]);
    const aborted = AbortSignal.abort();
    await expect(quick.execute({ steps: 2 }, { signal: aborted, output })).rejects.toThrow();
  });
});
