import { describe, expect, it } from "vitest";
import { startTestServer } from "../../test-server.test-support.js";
import { parseInput } from "./input-items.js";

const said = (role: string, ...content: unknown[]) => ({ role, content });
const words = (text: string) => ({ type: "text", text });
const png = "data:image/png;base64,aGk=";

/** Forms of input, and the messages that they become in a log. */
const forms: Readonly<Record<string, readonly [input: readonly Record<string, unknown>[], rows: unknown]>> = {
  "a message without a type": [[{ role: "user", content: "hi" }], [said("user", words("hi"))]],
  "a message of parts": [
    [{ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }],
    [said("user", words("hi"))],
  ],
  "an answer, with the ids and marks that it had": [
    [
      {
        id: "msg_1",
        type: "message",
        role: "assistant",
        status: "completed",
        content: [
          { type: "output_text", text: "yes", annotations: [] },
          { type: "refusal", refusal: "no" },
        ],
      },
    ],
    [said("assistant", words("yes"), words("no"))],
  ],
  "images by data and by address": [
    [
      {
        role: "user",
        content: [
          { type: "input_image", image_url: png },
          { type: "input_image", image_url: "/conversations/c1/files/7" },
        ],
      },
    ],
    [
      said(
        "user",
        { type: "file", mediaType: "image/png", data: "aGk=" },
        { type: "file", mediaType: "image/*", url: "/conversations/c1/files/7" },
      ),
    ],
  ],
  "files by data and by address": [
    [
      {
        role: "user",
        content: [
          { type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,aGk=" },
          { type: "input_file", file_url: "/conversations/c1/files/8" },
        ],
      },
    ],
    [
      said(
        "user",
        { type: "file", mediaType: "text/plain", data: "aGk=", filename: "a.txt" },
        { type: "file", mediaType: "application/pdf", url: "/conversations/c1/files/8" },
      ),
    ],
  ],
  "calls behind words are one message, before their outputs": [
    [
      { role: "assistant", content: "Let me see." },
      { type: "function_call", id: "fc_1", call_id: "c1", name: "look", arguments: '{"at":1}' },
      { type: "function_call", call_id: "c2", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "one" },
      { type: "function_call_output", call_id: "c2", output: [{ type: "input_text", text: "two" }] },
    ],
    [
      {
        role: "assistant",
        content: [
          words("Let me see."),
          { type: "tool-call", toolCallId: "c1", name: "look", argumentsText: '{"at":1}' },
          { type: "tool-call", toolCallId: "c2", name: "look", argumentsText: "{}" },
        ],
      },
      said("tool", { type: "tool-result", toolCallId: "c1", resultText: "one", isError: false }),
      said("tool", { type: "tool-result", toolCallId: "c2", resultText: "two", isError: false }),
    ],
  ],
  "calls that the server made": [
    [
      {
        type: "mcp_call",
        id: "mcp_1",
        server_label: "parley",
        name: "look",
        arguments: "{}",
        output: "fine",
      },
      { type: "mcp_call", id: "mcp_2", name: "look", arguments: "{}", output: null, error: "gone" },
    ],
    [
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "mcp_1" }] },
      said("tool", { type: "tool-result", toolCallId: "mcp_1", resultText: "fine", isError: false }),
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "mcp_2" }] },
      said("tool", { type: "tool-result", toolCallId: "mcp_2", resultText: "gone", isError: true }),
    ],
  ],
  "what the log has already": [
    [
      { type: "reasoning", id: "rs_1", summary: [] },
      { type: "item_reference", id: "msg_1" },
      { type: "mcp_approval_request", id: "mcpr_1", name: "pay", arguments: "{}", server_label: "parley" },
    ],
    [],
  ],
};

describe("the input of a response", () => {
  it.each(Object.entries(forms))("may have %s", (_, [input, rows]) => {
    const { messages, outputs, approvals, instructions } = parseInput(input);
    expect(messages).toMatchObject(rows as object[]);
    expect(messages).toHaveLength((rows as object[]).length);
    expect([outputs.size, approvals.size, instructions.length]).toEqual([0, 0, 0]);
  });

  it("may have instructions, outputs and decisions for an earlier response", () => {
    const parsed = parseInput([
      { role: "system", content: "Be brief." },
      { role: "developer", content: [{ type: "input_text", text: "Be kind." }] },
      { type: "function_call_output", call_id: "c1", output: "sunny" },
      { type: "mcp_approval_response", approval_request_id: "mcpr_r1", approve: true, reason: "ok" },
    ]);
    expect(parsed.messages).toEqual([]);
    expect(parsed.instructions).toEqual(["Be brief.", "Be kind."]);
    expect([...parsed.outputs]).toEqual([["c1", "sunny"]]);
    expect([...parsed.approvals]).toEqual([["r1", { approve: true, reason: "ok" }]]);
  });

  it("is shown to the model whole, in order, as one turn", async () => {
    const server = await startTestServer();
    const input = [
      ...(forms["calls behind words are one message, before their outputs"]?.[0] ?? []),
      { role: "developer", content: "Be brief." },
      { role: "user", content: "And now?" },
    ];
    const answer = await server.call("POST", "/v1/responses", { body: { input } });
    expect(answer.status).toBe(200);
    const { messages = [] } = server.provider.calls[0]?.params ?? {};
    expect(messages.map(({ role }) => role)).toEqual(["system", "assistant", "tool", "tool", "user"]);
    expect(JSON.stringify(messages[0])).toContain("Be brief.");
    const { id } = answer.json as { id: string };
    const listed = await server.call("GET", `/v1/responses/${id}/input_items?order=asc`);
    expect(JSON.stringify(listed.json)).toContain("And now?");
  });
});
