import type { Tool } from "@parley/core";
import { reasoning, text, toolCall } from "@parley/testing";
import { expect, it } from "vitest";
import { startTestServer } from "../../test-server.test-support.js";

const pay: Tool = { name: "pay", approval: "always", execute: () => "paid" };

type Item = Record<string, unknown> & { readonly id: string; readonly type: string };

it("are the same in a response, in its replay, and in the list of their conversation", async () => {
  const server = await startTestServer({
    tools: [pay as Tool<never>],
    script:
      () =>
      ({ messages }) => {
        const last = messages.at(-1);
        const [part] = last?.content ?? [];
        if (last?.role !== "user" || part?.type !== "text") return [text("Done.")];
        return [reasoning("Hm."), text("I see."), toolCall(part.text, { of: "it" }), toolCall("look", {})];
      },
  });
  await server.call("POST", "/conversations", { body: { id: "c1" } });
  const outputs: Item[] = [];
  const respond = async (body: object) => {
    const answer = await server.call("POST", "/v1/responses", { body });
    const { id, output } = answer.json as { id: string; output: Item[] };
    outputs.push(...output);
    const again = (await server.call("GET", `/v1/responses/${id}`)).json as { output: Item[] };
    expect(again.output).toEqual(output);
    return { id, output };
  };
  const tools = [{ type: "function", name: "theirs", parameters: { type: "object" } }];
  await respond({ conversation: "c1", input: "look" });
  const asked = await respond({ conversation: "c1", input: "pay" });
  const request = asked.output.find(({ type }) => type === "mcp_approval_request");
  const approval = { type: "mcp_approval_response", approval_request_id: request?.id, approve: true };
  await respond({ previous_response_id: asked.id, input: [approval] });
  const called = await respond({ conversation: "c1", input: "theirs", tools });
  const call = called.output.find(({ type }) => type === "function_call");
  const output = { type: "function_call_output", call_id: call?.call_id, output: "sunny" };
  await respond({ previous_response_id: called.id, input: [output] });

  const listed = await server.call("GET", "/v1/conversations/c1/items?order=asc&limit=100");
  const { data } = listed.json as { data: Item[] };
  const isInput = ({ type, role }: Item) => role === "user" || type === "function_call_output";
  expect(data.filter(isInput).map(({ type }) => type)).toEqual([
    ...["message", "message", "message"],
    "function_call_output",
  ]);
  const byId = (items: readonly Item[]) => new Map(items.map((item) => [item.id, item]));
  expect(byId(data.filter((item) => !isInput(item)))).toEqual(byId(outputs));
  expect(new Set(outputs.map(({ type }) => type)).size).toBe(5);
});
