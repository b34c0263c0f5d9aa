import type { Tool } from "@parley/core";
import { type Gate, pause, reasoning, type ScriptSource, text, toolCall, usage } from "@parley/testing";
import OpenAI6 from "openai";
import OpenAI7 from "openai-7";
import { describe, expect, it } from "vitest";
import {
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from "../../packages/server/src/test-server.test-support.js";

/** The versions of the SDK that a program may use. Their types differ in places that these tests do not use. */
const sdks = [
  { version: "6", Sdk: OpenAI6 },
  { version: "7", Sdk: OpenAI7 as unknown as typeof OpenAI6 },
];

/** Approves and runs. */
const pay: Tool = { name: "pay", approval: "always", execute: () => "paid" };

/** Returns the model's script, selected by the last word of the user. */
function script(at: Gate): ScriptSource {
  return ({ messages, output }) => {
    const asked = messages
      .findLast(({ role }) => role === "user")
      ?.content.findLast((part) => part.type === "text" && part.text !== "");
    const said = asked?.type === "text" ? String(asked.text) : "";
    const last = messages.at(-1);
    const isFirst = last?.role === "user";
    const answer = [text(`You said: ${said}`, { size: 3 }), usage(20, 8)];
    if (output !== undefined || said.includes("schema"))
      return [text('{"city":"Bern"}', { size: 4 }), usage(5, 4)];
    if (said.includes("wait")) return [text("One moment. "), pause(at), ...answer];
    if (said.includes("count")) return [text(`I see ${messages.length} messages`), usage(3, 3)];
    if (!isFirst) {
      const result = last?.content.findLast((part) => part.type === "tool-result") as
        | { resultText?: string }
        | undefined;
      return [text(`Result: ${result?.resultText}`, { size: 5 }), usage(9, 3)];
    }
    if (said.includes("look")) {
      return [
        reasoning("Let me see.", { size: 4 }),
        text("Looking. ", { size: 3 }),
        toolCall("look", { at: 1 }),
        usage(7, 2),
      ];
    }
    if (said.includes("pay")) return [text("I need to pay. "), toolCall("pay", { sum: 3 })];
    if (said.includes("weather"))
      return [toolCall("weather", '{"city": "Bern"}', { id: "call_1" }), usage(4, 1)];
    return answer;
  };
}

function start(options: TestServerOptions = {}): Promise<TestServer> {
  return startTestServer({ script, tools: [pay], ...options });
}

const weather = {
  type: "function" as const,
  name: "weather",
  description: "The weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  strict: false,
};

describe.each(sdks)("the OpenAI SDK of version $version", ({ Sdk }) => {
  const open = (server: TestServer, options: object = {}) =>
    new Sdk({ baseURL: `${server.url}/v1`, apiKey: "any", ...options });

  it("makes a response, whole and streamed, and reads it again", async () => {
    const server = await start();
    const client = open(server);
    const whole = await client.responses.create({ model: "scripted/one", input: "please look" });
    expect(whole.status).toBe("completed");
    expect(whole.output.map(({ type }) => type)).toEqual(["reasoning", "message", "mcp_call", "message"]);
    expect(whole.output_text).toBe("Looking. Result: It looks fine.");
    expect(whole.usage).toMatchObject({ input_tokens: 16, output_tokens: 5, total_tokens: 21 });
    expect(await client.responses.retrieve(whole.id)).toEqual(whole);

    const stream = client.responses.stream({ model: "one", input: "please look" });
    const seen: string[] = [];
    for await (const event of stream) seen.push(event.type);
    const final = await stream.finalResponse();
    expect(seen[0]).toBe("response.created");
    expect(seen.at(-1)).toBe("response.completed");
    expect(seen.filter((type) => type === "response.output_text.delta").length).toBeGreaterThan(5);
    expect(final.output_text).toBe(whole.output_text);
    const { output, usage: used } = await client.responses.retrieve(final.id);
    expect({ output, usage: used }).toEqual({
      output: JSON.parse(JSON.stringify(final.output)).map(plain),
      usage: final.usage,
    });
  });

  it("continues after a response, and branches where one has continued already", async () => {
    const server = await start();
    const client = open(server);
    const first = await client.responses.create({ model: "one", input: "hello" });
    const tip = await client.responses.create({
      model: "one",
      input: "count",
      previous_response_id: first.id,
    });
    expect(tip.output_text).toBe("I see 3 messages");
    const branch = await client.responses.create({
      model: "one",
      input: "count",
      previous_response_id: first.id,
    });
    expect(branch.output_text).toBe("I see 3 messages");
    const deeper = await client.responses.create({
      model: "one",
      input: "count",
      previous_response_id: tip.id,
    });
    expect(deeper.output_text).toBe("I see 5 messages");
    const unknown = client.responses.create({
      model: "one",
      input: "x",
      previous_response_id: "resp_nowhere",
    });
    await expect(unknown).rejects.toMatchObject({
      status: 400,
      code: "previous_response_not_found",
      param: "previous_response_id",
    });
  });

  it("runs the caller's tools, by state and by list", async () => {
    const server = await start();
    const client = open(server);
    const request = { model: "one", tools: [weather] };
    const first = await client.responses.create({ ...request, input: "the weather" });
    expect(first.status).toBe("completed");
    expect(first.output).toMatchObject([
      { type: "function_call", call_id: "call_1", name: "weather", arguments: '{"city": "Bern"}' },
    ]);
    const output = { type: "function_call_output" as const, call_id: "call_1", output: "sunny" };
    const second = await client.responses.create({
      ...request,
      input: [output],
      previous_response_id: first.id,
    });
    expect(second.output_text).toBe("Result: sunny");
    expect(second.previous_response_id).toBe(first.id);
    expect(await client.responses.retrieve(first.id)).toEqual(first);
    expect(await client.responses.retrieve(second.id)).toEqual(second);

    const listed = await client.responses.create({
      ...request,
      input: [{ role: "user", content: "the weather" }, ...(first.output as never[]), output],
    });
    expect(listed.output_text).toBe("Result: sunny");
    const orphan = client.responses.create({ ...request, input: [{ ...output, call_id: "call_9" }] });
    await expect(orphan).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("call_9") as string,
    });
    const open2 = await client.responses.create({ ...request, input: "the weather" });
    const early = client.responses.create({ ...request, input: "and?", previous_response_id: open2.id });
    await expect(early).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("No tool output") as string,
    });
  });

  it("asks for approvals, and runs what was approved", async () => {
    const server = await start();
    const client = open(server);
    const first = await client.responses.create({ model: "one", input: "pay" });
    const request = first.output.find(({ type }) => type === "mcp_approval_request");
    expect(request).toMatchObject({ name: "pay", server_label: "parley" });
    const second = await client.responses.create({
      model: "one",
      previous_response_id: first.id,
      input: [{ type: "mcp_approval_response", approval_request_id: request?.id ?? "", approve: true }],
    });
    expect(second.output).toMatchObject([
      { type: "mcp_call", name: "pay", output: "paid", approval_request_id: request?.id },
      { type: "message" },
    ]);
    expect(await client.responses.retrieve(second.id)).toEqual(second);
  });

  it("keeps conversations, with items that can be added, listed and taken out", async () => {
    const server = await start();
    const client = open(server);
    const conversation = await client.conversations.create({ metadata: { topic: "a" } });
    const answer = await client.responses.create({
      model: "one",
      input: "hello",
      conversation: conversation.id,
    });
    expect(answer.conversation).toEqual({ id: conversation.id });
    const added = await client.conversations.items.create(conversation.id, {
      items: [
        { type: "message", role: "user", content: "noted" },
        { type: "message", role: "assistant", content: "I see" } as never,
      ],
    });
    expect(added.data).toHaveLength(2);
    const ids: string[] = [];
    for await (const item of client.conversations.items.list(conversation.id, { order: "asc", limit: 1 })) {
      ids.push(String(item.id));
    }
    expect(ids).toHaveLength(4);
    expect(ids[1]).toBe(answer.output[0]?.id);
    const counted = await client.responses.create({
      model: "one",
      input: "count",
      conversation: { id: conversation.id },
    });
    expect(counted.output_text).toBe("I see 5 messages");
    await client.conversations.items.delete(ids[2] ?? "", { conversation_id: conversation.id });
    await expect(
      client.conversations.items.retrieve(ids[2] ?? "", { conversation_id: conversation.id }),
    ).rejects.toMatchObject({ status: 404 });
    const later = await client.responses.create({
      model: "one",
      input: "count",
      conversation: conversation.id,
    });
    expect(later.output_text).toBe("I see 6 messages");
    expect(await client.conversations.update(conversation.id, { metadata: { topic: "b" } })).toMatchObject({
      metadata: { topic: "b" },
    });
    await client.conversations.delete(conversation.id);
    await expect(client.conversations.retrieve(conversation.id)).rejects.toMatchObject({ status: 404 });
  });

  it("runs in the background, is followed again from a number, and is cancelled", async () => {
    const server = await start();
    const client = open(server);
    const begun = await client.responses.create({ model: "one", input: "wait", background: true });
    expect(begun.status).toBe("in_progress");
    const events = await client.responses.retrieve(begun.id, { stream: true });
    let last = 0;
    for await (const event of events) {
      last = event.sequence_number;
      if (event.type === "response.output_text.delta") break;
    }
    const rest = await client.responses.retrieve(begun.id, { stream: true, starting_after: last });
    const cancelled = client.responses.cancel(begun.id);
    const seen: OpenAI6.Responses.ResponseStreamEvent[] = [];
    for await (const event of rest) seen.push(event);
    expect(await cancelled).toMatchObject({ status: "cancelled" });
    expect(seen.at(-1)).toMatchObject({ type: "response.incomplete", response: { status: "cancelled" } });
    expect(seen.every((event) => event.sequence_number > last)).toBe(true);
    expect(await client.responses.cancel(begun.id)).toMatchObject({ status: "cancelled" });
    const plainOne = await client.responses.create({ model: "one", input: "hello" });
    await expect(client.responses.cancel(plainOne.id)).rejects.toMatchObject({ status: 400 });
  });

  it("has the same state after any cut: while it is made, after its seal, and on another node", async () => {
    const server = await start();
    const client = open(server);
    const begun = await client.responses.create({ model: "one", input: "wait and see", background: true });
    type Event = OpenAI6.Responses.ResponseStreamEvent;
    const live: Event[] = [];
    for await (const event of await client.responses.retrieve(begun.id, { stream: true })) {
      live.push(event);
      if (event.type === "response.output_text.delta") server.gate.open();
    }
    const folded = (events: readonly Event[]) => {
      const texts = events.map((event) => (event.type === "response.output_text.delta" ? event.delta : ""));
      const last = events.at(-1);
      return [texts.join(""), last?.type === "response.completed" ? last.response.output : last?.type];
    };
    expect(folded(live)[0]).toBe("One moment. You said: wait and see");
    for (const [index, { sequence_number: number }] of live.entries()) {
      const rest: Event[] = [];
      const events = await client.responses.retrieve(begun.id, { stream: true, starting_after: number });
      for await (const event of events) rest.push(event);
      expect(folded([...live.slice(0, index + 1), ...rest])).toEqual(folded(live));
    }
    const again = client.responses.stream({
      response_id: begun.id,
      starting_after: live[4]?.sequence_number ?? 0,
    });
    expect((await again.finalResponse()).output_text).toBe("One moment. You said: wait and see");
  });

  it("leaves nothing behind where it is not stored, or was deleted", async () => {
    const server = await start();
    const client = open(server);
    const unkept = await client.responses.create({ model: "one", input: "please look", store: false });
    expect(unkept.output_text).toBe("Looking. Result: It looks fine.");
    await expect(client.responses.retrieve(unkept.id)).rejects.toMatchObject({ status: 404 });
    const streamed = client.responses.stream({ model: "one", input: "hello", store: false });
    expect((await streamed.finalResponse()).output_text).toBe("You said: hello");
    const kept = await client.responses.create({ model: "one", input: "hello" });
    const items = await client.responses.inputItems.list(kept.id);
    expect(items.data).toMatchObject([{ role: "user", content: [{ type: "input_text", text: "hello" }] }]);
    await client.responses.delete(kept.id);
    await expect(client.responses.retrieve(kept.id)).rejects.toMatchObject({ status: 404 });
    const { conversations } = (await server.call("GET", "/conversations")).json as {
      conversations: unknown[];
    };
    expect(conversations).toEqual([]);
  });

  it("returns data, parsed by the SDK", async () => {
    const server = await start();
    const client = open(server);
    const format = {
      type: "json_schema" as const,
      name: "city",
      schema: {
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
        additionalProperties: false,
      },
      strict: true,
    };
    const parsed = await client.responses.parse({ model: "one", input: "schema", text: { format } });
    expect(JSON.parse(parsed.output_text)).toEqual({ city: "Bern" });
    const stream = client.responses.stream({ model: "one", input: "schema", text: { format } });
    expect(JSON.parse((await stream.finalResponse()).output_text)).toEqual({ city: "Bern" });
    const wrong = { ...format, schema: { ...format.schema, properties: { city: { type: "number" } } } };
    const failed = await client.responses.create({ model: "one", input: "schema", text: { format: wrong } });
    expect([failed.status, failed.error?.code]).toEqual(["failed", "output_invalid"]);
  });

  it("completes chats, whole and streamed, with the caller's tools and usage", async () => {
    const server = await start();
    const client = open(server);
    const messages = [
      { role: "system" as const, content: "Be brief" },
      { role: "user" as const, content: "please look" },
    ];
    const whole = await client.chat.completions.create({ model: "one", messages });
    expect(whole.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { role: "assistant", content: "Looking. \n\nResult: It looks fine." },
    });
    const stream = client.chat.completions.stream({
      model: "one",
      messages,
      stream_options: { include_usage: true },
    });
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
    expect(final.usage?.total_tokens).toBe(whole.usage?.total_tokens);
    const { strict: _, ...definition } = weather;
    const runner = client.chat.completions.runTools({
      model: "one",
      messages: [{ role: "user", content: "the weather" }],
      tools: [
        {
          type: "function",
          function: {
            ...definition,
            parse: (given: string) => JSON.parse(given) as { city: string },
            function: ({ city }: { city: string }) => `sunny in ${city}`,
          },
        } as never,
      ],
    });
    expect(await runner.finalContent()).toBe("Result: sunny in Bern");
    const { conversations } = (await server.call("GET", "/conversations")).json as {
      conversations: unknown[];
    };
    expect(conversations).toEqual([]);
  });

  it("lists models, and finds one by its name with a slash", async () => {
    const server = await start();
    const client = open(server);
    const names: string[] = [];
    for await (const { id } of client.models.list()) names.push(id);
    expect(names).toEqual(["scripted/one", "scripted/two"]);
    expect(await client.models.retrieve("scripted/two")).toMatchObject({
      id: "scripted/two",
      owned_by: "scripted",
    });
    expect((await server.call("GET", "/v1/models/scripted/two")).status).toBe(200);
    const unknown = client.responses.create({ model: "gpt-nowhere", input: "x" });
    await expect(unknown).rejects.toMatchObject({ status: 404, code: "model_not_found", param: "model" });
  });

  it("is refused in its own shape, and does not repeat what would be refused again", async () => {
    const server = await start({ auth: "keys" });
    const denied = open(server, { maxRetries: 0 }).models.list();
    await expect(denied).rejects.toMatchObject({ status: 401, type: "authentication_error" });
    const reader = open(server, { apiKey: await server.key("ann", ["read"]) });
    await expect(reader.responses.create({ model: "one", input: "x" })).rejects.toMatchObject({
      status: 403,
      type: "permission_error",
    });
    const client = open(server, { apiKey: await server.key("ann") });
    const other = open(server, { apiKey: await server.key("bob") });
    const mine = await client.responses.create({ model: "one", input: "hello" });
    await expect(other.responses.retrieve(mine.id)).rejects.toMatchObject({ status: 404 });
    const conversation = await client.conversations.create({});
    await client.responses.create({
      model: "one",
      input: "wait",
      background: true,
      conversation: conversation.id,
    });
    const before = server.provider.calls.length;
    const busy = client.responses.create({ model: "one", input: "more", conversation: conversation.id });
    await expect(busy).rejects.toMatchObject({
      status: 400,
      code: "conversation_locked",
      param: "conversation",
    });
    expect(server.provider.calls.length).toBe(before);
    await expect(client.responses.create({ model: "one" } as never)).rejects.toMatchObject({
      status: 400,
      param: "input",
    });
  });

  it("comes back to the same turn when it repeats a request whose answer was lost", async () => {
    const server = await start();
    let calls = 0;
    const flaky: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      calls += 1;
      if (calls > 1) return answer;
      await answer.text();
      throw new TypeError("fetch failed");
    };
    const client = open(server, { fetch: flaky });
    const response = await client.responses.create({ model: "one", input: "hello" });
    expect(response.output_text).toBe("You said: hello");
    expect([calls, server.provider.calls.length]).toEqual([2, 1]);
    await open(server).responses.create({ model: "one", input: "hello" });
    expect(server.provider.calls.length).toBe(2);
    const keyed = { headers: { "Idempotency-Key": "k1" } };
    const one = await open(server).responses.create({ model: "one", input: "again" }, keyed);
    const two = await open(server).responses.create({ model: "one", input: "again" }, keyed);
    expect(two).toEqual(one);
    expect(server.provider.calls.length).toBe(3);
  });
});

/** Returns an item without what the SDK's helper adds. */
function plain(item: Record<string, unknown>): unknown {
  const { parsed_arguments: _, ...rest } = item;
  const { content } = rest;
  if (!Array.isArray(content)) return rest;
  return { ...rest, content: content.map(({ parsed: _parsed, ...part }: Record<string, unknown>) => part) };
}
